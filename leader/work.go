package leader

import "context"

// work runs what belongs to the user in one term on one goroutine: it asks for the
// fence floor, waits for the term to begin, and calls OnStartedLeading and then
// OnStoppedLeading.
type work struct {
	ctx termContext

	asked    chan struct{} // closed when floor and err are set
	floor    int64
	err      error
	begin    chan struct{} // closed by the goroutine of Run when the term begins
	returned chan struct{} // closed when OnStartedLeading has returned
	stopped  chan struct{} // closed when the goroutine has ended
}

func newWork(ctx termContext) *work {
	return &work{
		ctx:      ctx,
		asked:    make(chan struct{}),
		begin:    make(chan struct{}),
		returned: make(chan struct{}),
		stopped:  make(chan struct{}),
	}
}

func (w *work) run(cfg *Config, p *panics) {
	defer close(w.stopped)
	w.ask(cfg, p)
	if w.begins() {
		w.lead(cfg.Callbacks, p)
	}
}

// ask calls FenceFloor.
func (w *work) ask(cfg *Config, p *panics) {
	defer close(w.asked)
	if cfg.FenceFloor == nil {
		return
	}
	w.err = errFence // stands if FenceFloor panics or ends the goroutine
	defer func() { p.keep(recover()) }()
	ctx, cancel := context.WithTimeout(w.ctx.Context, cfg.LeaseDuration) // without the Term, whose token is not final yet
	defer cancel()
	w.floor, w.err = cfg.FenceFloor(ctx)
}

// begins waits until the term begins or is over before it has begun.
func (w *work) begins() bool {
	select {
	case <-w.begin:
		return true
	case <-w.ctx.Done():
	}
	select {
	case <-w.begin: // both happened: then somebody was told that it began
		return true
	default:
		return false
	}
}

// lead calls OnStartedLeading and, once the term has ended, OnStoppedLeading. The
// second is deferred so that it follows a panic of the first, and a runtime.Goexit in
// it.
func (w *work) lead(callbacks Callbacks, p *panics) {
	defer func() {
		p.keep(recover())
		close(w.returned)
		<-w.ctx.Done()
		defer func() { p.keep(recover()) }()
		if callbacks.OnStoppedLeading != nil {
			callbacks.OnStoppedLeading()
		}
	}()
	callbacks.OnStartedLeading(context.Context(w.ctx), Term{w.ctx.t})
}
