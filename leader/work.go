package leader

import (
	"context"
	"time"
)

// work runs what belongs to the user in one term, on one goroutine: it asks for the
// fence floor, waits for the term to begin, and calls OnStartedLeading and then
// OnStoppedLeading.
type work struct {
	ctx       termContext
	callbacks Callbacks
	panics    *panics

	askFloor     func(context.Context) (int64, error) // Config.FenceFloor
	floorTimeout time.Duration

	asked chan struct{} // closed when floor and err are set
	floor int64
	err   error

	begin    chan struct{} // closed by the goroutine of Run when the term begins, if it does
	returned chan struct{} // closed when OnStartedLeading has returned
	// Closed by the goroutine of Run when the log says that the term has ended.
	logged  chan struct{}
	stopped chan struct{} // closed when the goroutine has ended
}

func newWork(t *term, cfg *Config, p *panics) *work {
	return &work{
		ctx:          termContext{t.ctx, t},
		callbacks:    cfg.Callbacks,
		panics:       p,
		askFloor:     cfg.FenceFloor,
		floorTimeout: cfg.LeaseDuration,
		asked:        make(chan struct{}),
		begin:        make(chan struct{}),
		returned:     make(chan struct{}),
		logged:       make(chan struct{}),
		stopped:      make(chan struct{}),
	}
}

func (w *work) run() {
	defer close(w.stopped)
	w.ask()
	if w.begins() {
		w.lead()
	}
}

// ask calls FenceFloor.
func (w *work) ask() {
	defer close(w.asked)
	if w.askFloor == nil {
		return
	}
	w.err = errNoToken // stands if FenceFloor panics or ends the goroutine
	defer func() { w.panics.record(recover()) }()
	// Without the Term, whose token is not final yet.
	ctx, cancel := context.WithTimeout(w.ctx.Context, w.floorTimeout)
	defer cancel()
	w.floor, w.err = w.askFloor(ctx)
}

// begins waits until the term begins, or is over without having begun.
func (w *work) begins() bool {
	select {
	case <-w.begin:
		return true
	case <-w.ctx.Done():
	}
	return closed(w.begin) // both happened: then somebody was told that it began
}

// lead calls OnStartedLeading and, once the term has ended, OnStoppedLeading. The
// second call is deferred so that it follows a panic of the first, and a runtime.Goexit
// in it.
func (w *work) lead() {
	defer func() {
		w.panics.record(recover())
		close(w.returned)
		<-w.ctx.Done()
		w.awaitLog()
		defer func() { w.panics.record(recover()) }()
		if w.callbacks.OnStoppedLeading != nil {
			w.callbacks.OnStoppedLeading()
		}
	}()
	w.callbacks.OnStartedLeading(context.Context(w.ctx), Term{w.ctx.t})
}

// awaitLog waits for the log to say that the term has ended, so that what
// OnStoppedLeading logs comes after it. It does not wait for long, because a Logger or
// an Observer that blocks must not keep OnStoppedLeading from running.
func (w *work) awaitLog() {
	closesWithin(w.logged, time.Second)
}

// closed reports whether a channel, on which nothing is sent, is closed.
func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// closesWithin waits until such a channel is closed, and reports false if it is not within
// limit.
func closesWithin(c <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c:
		return true
	case <-timer.C:
		return false
	}
}
