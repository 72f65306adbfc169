package leader

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Callbacks are called by an Elector. None of them delays renewal, and a panic in one
// ends the term, releases the lock and continues as the same panic from Run.
type Callbacks struct {
	// OnStartedLeading does the leader's work. It runs on a goroutine of its own, once
	// in each term, and should return soon after ctx is done: the lock is held, and
	// OnStoppedLeading waits, until it has. If it returns earlier, the term ends with
	// ErrReturned and the lock is released. The candidate then competes again after a
	// pause, which doubles while terms stay shorter than LeaseDuration, up to twice
	// that.
	//
	// ctx.Err looks at the clocks: in a process that was frozen past its lease, the
	// work sees the end at its first look, before any timer fires. Contexts derived
	// from ctx learn of it a moment later. context.Cause tells why the term ended, with
	// one of the errors that Term.Check returns. Use Every or Sleep for loops.
	// Required.
	OnStartedLeading func(ctx context.Context, term Term)

	// OnStoppedLeading is called exactly once for each OnStartedLeading, after that
	// returned and before the lock is released, on the same goroutine. client-go calls
	// it even if this candidate has never led; an Elector does not. Default: none.
	OnStoppedLeading func()

	// OnNewLeader is called with the identity of each new leader that this candidate
	// sees, itself included: in order, one call at a time, on a goroutine of its own. A
	// vacancy is not reported, nor the same identity twice in a row. Of the changes
	// during a call only the latest is reported. Default: none.
	OnNewLeader func(identity string)
}

// notifier calls OnNewLeader from a goroutine that exists only while there is something
// to deliver.
type notifier struct {
	handler func(identity string)
	panics  *panics

	mu      sync.Mutex // guards the fields below, and is not held during a call
	pending *string    // an identity that is not yet delivered
	last    string     // the identity that was delivered last
	running bool
	ended   chan struct{} // closed when the last goroutine has ended; nil if there was none
}

// notify has the handler told of a leader. It does not wait for that.
func (n *notifier) notify(identity string) {
	if n.handler == nil || identity == "" {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.pending = &identity
	if !n.running {
		n.running, n.ended = true, make(chan struct{})
		go n.deliver(n.ended) // join waits for it
	}
}

func (n *notifier) deliver(ended chan<- struct{}) {
	defer close(ended)
	delivered := false
	defer func() {
		if !delivered { // the handler panicked or called Goexit: a later Run notifies again
			n.mu.Lock()
			n.running = false
			n.mu.Unlock()
		}
		n.panics.record(recover())
	}()
	for {
		identity, ok := n.next()
		if !ok {
			delivered = true
			return
		}
		n.handler(identity)
	}
}

func (n *notifier) next() (string, bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	pending := n.pending
	n.pending = nil
	if pending == nil || *pending == n.last {
		n.running = false
		return "", false
	}
	n.last = *pending
	return n.last, true
}

// join waits until nothing is left to deliver, for timeout at the most.
func (n *notifier) join(timeout time.Duration) error {
	n.mu.Lock()
	ended := n.ended
	n.mu.Unlock()
	if ended == nil || closesWithin(ended, timeout) {
		return nil
	}
	return fmt.Errorf("%w: OnNewLeader", ErrDrainTimeout)
}
