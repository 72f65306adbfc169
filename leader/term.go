package leader

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// Term is one period of leadership of one candidate. It is a small value that may be
// copied and used by many goroutines. Its methods do no I/O, take no contended lock,
// and cost less than a microsecond. The zero Term is one that has ended.
//
// Package leadertest makes Terms for unit tests.
type Term struct{ t *term }

// FenceToken is the term's fencing token: higher than those of all earlier terms of
// this name. Send it along with each write, and have the protected resource reject
// tokens lower than the highest it has seen.
func (t Term) FenceToken() int64 {
	if t.t == nil {
		return 0
	}
	return t.t.fence.Load()
}

// Identity is the identity of the candidate that leads.
func (t Term) Identity() string {
	if t.t == nil {
		return ""
	}
	return t.t.identity
}

// Name is the name of the election.
func (t Term) Name() string {
	if t.t == nil {
		return ""
	}
	return t.t.name
}

// StartedAt is when the term began, by this machine's wall clock.
func (t Term) StartedAt() time.Time {
	if t.t == nil {
		return time.Time{}
	}
	return t.t.startedAt
}

// Remaining is how long the term lasts unless it is renewed. It is 0 if the term has
// ended.
func (t Term) Remaining() time.Duration {
	if t.Check() != nil {
		return 0
	}
	return t.t.remaining(t.t.now())
}

// Check returns nil while the term lasts, by the clocks at the time of the call.
// Afterwards it returns why the term ended: an error that matches ErrLost, ErrExpired,
// ErrResigned, ErrReturned, ErrPanicked or ErrFailed, or the cause of the context that
// Run was given. Call it before each side effect that no fencing token protects.
func (t Term) Check() error {
	if t.t == nil {
		return ErrExpired
	}
	return t.t.check()
}

// Fail ends the term because its work cannot go on. The cause of the term's context,
// and what Check returns, then match both ErrFailed and err. The reason in logs and
// metrics is EndedDeposed if err matches ErrDeposed, which says that the protected
// resource has accepted a higher fencing token, and EndedFailed otherwise. The work
// should return soon after. The candidate then competes again after a pause, which
// grows while terms stay short. Fail has no effect on a term that has ended.
func (t Term) Fail(err error) {
	switch {
	case t.Check() != nil:
	case err == nil:
		t.t.end(ErrFailed)
	default:
		t.t.end(fmt.Errorf("%w: %w", ErrFailed, err))
	}
}

// termKey is the key of the Term in a term's context.
type termKey struct{}

// TermFromContext returns the term of the context that an elector made, given that
// context or one derived from it. It returns false for any other context.
func TermFromContext(ctx context.Context) (Term, bool) {
	t, ok := ctx.Value(termKey{}).(Term)
	return t, ok
}

// term is what a Term refers to. The goroutine of Run makes it. Fields without a
// comment of their own are set before anybody else can see the term.
type term struct {
	name     string
	identity string
	limit    time.Duration // RenewDeadline
	now      func() clock.Instant

	fence     atomic.Int64                  // final when the term begins
	renewed   atomic.Pointer[clock.Instant] // just before the latest successful refresh was sent
	startedAt time.Time                     // to be read once begun is true
	begun     atomic.Bool                   // somebody was told that the term has begun
	ctx       context.Context               // done once the term has ended; its cause says why
	end       context.CancelCauseFunc       // no effect if the term has ended already

	resignation resignation
}

// newTerm makes a term that counts from sent, the instant before the request was sent
// that obtained the lock.
func newTerm(parent context.Context, e *Elector, sent clock.Instant, fence int64) *term {
	t := &term{name: e.cfg.Name, identity: e.cfg.Identity, limit: e.timing.deadline, now: e.now}
	t.fence.Store(fence)
	t.renewed.Store(&sent)
	t.resignation.init()
	// The work must not be cancelled by the caller's context but by the step-down,
	// after IsLeader has become false.
	t.ctx, t.end = context.WithCancelCause(context.WithoutCancel(parent))
	return t
}

// begin notes when the term began.
func (t *term) begin() {
	t.startedAt = time.Now()
	t.begun.Store(true)
}

// sinceRenewed is how long ago the latest successful refresh was sent.
func (t *term) sinceRenewed(now clock.Instant) time.Duration { return now.Since(*t.renewed.Load()) }

// remaining is pure arithmetic: how long the term lasts after now, unless it is
// renewed.
func (t *term) remaining(now clock.Instant) time.Duration { return t.limit - t.sinceRenewed(now) }

// check looks at the clocks. Whoever sees first that the deadline has passed ends the
// term, so that it cannot be renewed after somebody was told that it is over.
func (t *term) check() error {
	if t.ctx.Err() == nil && t.remaining(t.now()) > 0 {
		return nil
	}
	t.end(ErrExpired) // no effect if it has ended for another reason
	return context.Cause(t.ctx)
}

// extend notes that a refresh sent at that instant has succeeded. A refresh that was
// sent before the last one to succeed adds nothing.
func (t *term) extend(sent clock.Instant) {
	_ = t.check() // a success that comes after the deadline must not hide that it has passed
	if sent.Since(*t.renewed.Load()) > 0 {
		t.renewed.Store(&sent)
	}
}

// termContext is the context of a term's work.
type termContext struct {
	context.Context // the term's
	t               *term
}

// Err looks at the clocks, because timers fire late in a process that was frozen.
func (c termContext) Err() error {
	_ = c.t.check()
	return c.Context.Err()
}

// Value looks at the clocks too: a context that is being derived comes this way, and so
// has ended if this one has.
func (c termContext) Value(key any) any {
	if key == (termKey{}) {
		return Term{c.t}
	}
	_ = c.t.check()
	return c.Context.Value(key)
}

// resignation lets any goroutine ask the goroutine of Run for a step-down, and wait for
// it.
type resignation struct {
	once      sync.Once
	requested chan struct{}
	complete  chan struct{} // closed after the last step of the step-down
	outcome   error         // of the step-down; to be read once complete is closed
}

func (r *resignation) init() {
	r.requested, r.complete = make(chan struct{}), make(chan struct{})
}

func (r *resignation) request() { r.once.Do(func() { close(r.requested) }) }

// finish says that the step-down is complete.
func (r *resignation) finish(outcome error) {
	r.outcome = outcome
	close(r.complete)
}

// wait waits for the end of the step-down, or of ctx.
func (r *resignation) wait(ctx context.Context) error {
	select {
	case <-r.complete:
		return r.outcome
	case <-ctx.Done():
		return ctx.Err()
	}
}
