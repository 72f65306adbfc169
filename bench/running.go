package main

import (
	"context"
	"time"
)

// running is an elector that runs on its own goroutine, from compete until it is stopped
// or ctx ends.
type running struct {
	began  chan time.Time // when the work started; room for one
	cancel context.CancelFunc
	ended  chan error // the result; closed when the elector has ended
}

func newRunning() running { return running{began: make(chan time.Time, 1)} }

// start must be called when the work starts.
func (r *running) start() {
	select {
	case r.began <- time.Now():
	default: // a term that nobody has waited for
	}
}

// run starts the elector and waits until it leads.
func (r *running) run(ctx context.Context, elector electorFunc) (time.Time, error) {
	ctx, r.cancel = context.WithCancel(ctx)
	r.ended = make(chan error, 1)
	go func(ended chan<- error) { // joined by stop
		defer close(ended)
		ended <- elector(ctx)
	}(r.ended)
	select {
	case at := <-r.began:
		return at, nil
	case <-ctx.Done():
		_ = r.stop()
		return time.Time{}, ctx.Err()
	}
}

// stop tells the elector to step down, if it leads, and to end. It waits until the
// elector has ended.
func (r *running) stop() error {
	if r.cancel == nil {
		return nil
	}
	r.cancel()
	err := <-r.ended
	select {
	case <-r.began: // a term began just before the end
	default:
	}
	return err
}
