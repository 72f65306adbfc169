package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// Pace of the work: a round takes 60 ms, of which the preparation of the write is the
// larger part.
const (
	preparation = 40 * time.Millisecond
	pause       = 20 * time.Millisecond
)

// worker is what only the leader may do: it counts in the guarded resource, by reading
// a number and writing the next one.
type worker struct {
	store  *store
	logger *slog.Logger
}

// run is one term's work. It is handed to the elector as OnStartedLeading.
func (w worker) run(ctx context.Context, term leader.Term) {
	logger := w.logger.With("identity", term.Identity(), "fence", term.FenceToken())
	logger.Info(msgWorkStarted)
	err := w.loop(ctx, term, logger)
	logger.Info(msgWorkStopped, "cause", err)
}

// loop works until the term is over, and says why it is. Trouble with the resource is
// no reason to stop, except that the resource has heard from a later leader.
func (w worker) loop(ctx context.Context, term leader.Term, logger *slog.Logger) error {
	for ctx.Err() == nil { // this looks at the clocks
		switch err := w.count(ctx, term); {
		case errors.Is(err, errFenced):
			logger.Warn("Write rejected", "error", err)
			return cmp.Or(context.Cause(ctx), err) // the term is over, even if the clocks of this process say otherwise
		case err != nil && ctx.Err() == nil:
			logger.Error("Cannot count", "error", err)
		}
		wait(ctx, pause)
	}
	return context.Cause(ctx)
}

// count is one round. The caller has just seen that the term lasts, and still this
// write can come too late: the process may be frozen, by the kernel, the hypervisor or
// a debugger, for longer than its lease, anywhere between that look and the first byte
// on the wire. A second look before the write would make the gap smaller, not close it,
// and no lock can. What closes it is the fencing token on the write and a resource that
// rejects a token lower than the highest it has accepted.
//
// The demo freezes the leader just here. Outside a demo, look again before the write
// (ctx.Err or term.Check) if the preparation takes long.
func (w worker) count(ctx context.Context, term leader.Term) error {
	n, err := w.store.read(ctx, term.FenceToken())
	if err != nil {
		return err
	}
	prepare()
	// A write that was begun is finished, like one whose bytes are already under way.
	// The client of the store bounds it, so that the work ends soon after its term.
	return w.store.write(context.WithoutCancel(ctx), term.FenceToken(), n+1)
}

// prepare stands for what takes time between the look and the write: a computation, a
// call to another service.
func prepare() { time.Sleep(preparation) }

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
