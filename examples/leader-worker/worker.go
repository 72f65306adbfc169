package main

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redisleader/redisleader/leader"
)

const (
	interval    = 100 * time.Millisecond // from one round of the work to the next
	preparation = 60 * time.Millisecond  // of a write
	// writeTimeout is less than LeaseDuration - RenewDeadline, so that the last write of a
	// term is over before another leader can start.
	writeTimeout = 300 * time.Millisecond
)

// worker is what only the leader does: it reads a number and writes the next one.
type worker struct{ register register }

// run is the work of one term.
func (w worker) run(ctx context.Context, term leader.Term) {
	err := leader.Every(ctx, interval, func(ctx context.Context) error { return w.round(ctx, term) })
	term.Fail(err) // ends a term that the register has ended; any other has ended before
}

// round counts once. The only error that ends the term is that a later one has begun, even
// if the clocks of this process say otherwise. After any other, the next round tries again.
func (w worker) round(ctx context.Context, term leader.Term) error {
	switch err := w.count(ctx, term.FenceToken()); {
	case errors.Is(err, leader.ErrDeposed):
		slog.Warn("Write rejected", "fence", term.FenceToken(), "error", err)
		return err
	case err != nil && ctx.Err() == nil:
		slog.Error("Cannot count", "fence", term.FenceToken(), "error", err)
	}
	return nil
}

// count makes one write. leader.Every has just seen that the term lasts, and still the
// write can come too late: the process can be frozen, by the kernel, the hypervisor or a
// debugger, for longer than its lease, anywhere between that look and the first byte on
// the wire. A second look would make the gap smaller, not close it, and no lock can. The
// fencing token on the write makes a late write harmless.
func (w worker) count(ctx context.Context, token int64) error {
	n, err := w.register.read(ctx)
	if err != nil {
		return err
	}
	slog.Debug("Writing", "fence", token, "value", n+1)
	time.Sleep(preparation) // in place of a computation, or a call to another service
	// A write that has begun is finished, though not at any length: if the end of the
	// term interrupted it, nobody would know whether it was applied.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	return w.register.write(ctx, token, n+1)
}
