//go:build unix

package e2e

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// writeTimeout bounds a write to the guarded resource, which no fault touches.
const writeTimeout = 5 * time.Second

// worker does a leader's work: it writes to the guarded resource again and again.
type worker struct {
	observer
	settings
	resource resource
	seq      atomic.Int64
	queues   sync.WaitGroup // late writes in flight
}

// lead is OnStartedLeading.
func (w *worker) lead(ctx context.Context, term leader.Term) {
	w.report(event{Kind: started, Fence: term.FenceToken()})
	w.work(ctx, term)
	w.report(event{Kind: cancelled, Detail: fmt.Sprint(context.Cause(ctx))})
	time.Sleep(w.Drain)
	// As in a careless program, the queue of writes outlives the work. What it still
	// sends carries the old token.
	w.queues.Go(func() { w.writeLate(term) })
	w.report(event{Kind: returned})
}

// work writes until the worker sees that the term is over.
func (w *worker) work(ctx context.Context, term leader.Term) {
	if w.WriteEvery == 0 {
		<-ctx.Done()
		return
	}
	for w.mayWrite(ctx, term) {
		w.write(term)
		w.pause(ctx)
	}
}

// mayWrite checks whether the term is over, in the way that the settings say.
func (w *worker) mayWrite(ctx context.Context, term leader.Term) bool {
	switch w.EndCheck {
	case checkErr:
		return ctx.Err() == nil
	case checkTerm:
		return term.Check() == nil
	}
	select {
	case <-ctx.Done():
		return false
	default:
		return true
	}
}

// pause waits until the next write is due. Only a worker that watches ctx.Done() wakes
// up earlier.
func (w *worker) pause(ctx context.Context) {
	if w.EndCheck != checkDone {
		time.Sleep(w.WriteEvery)
		return
	}
	timer := time.NewTimer(w.WriteEvery)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (w *worker) writeLate(term leader.Term) {
	time.Sleep(w.LateAfter)
	for range w.LateWrites {
		w.write(term)
	}
}

// write writes once. It does not ask whether the term is over: that is what the token
// is for.
func (w *worker) write(term leader.Term) {
	e := event{Kind: wrote, Fence: term.FenceToken(), Seq: int(w.seq.Add(1)), Begun: monotonic()}
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()
	e.Value = fmt.Sprint(w.Identity, w.name, "/", e.Seq)
	accepted, err := w.resource.write(ctx, e.Fence, e.Value)
	if err != nil {
		e.Detail = err.Error()
	}
	e.Accepted = accepted
	w.report(e)
}
