package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
	"github.com/redisleader/redisleader/leader"
)

const (
	preparation  = 60 * time.Millisecond
	pause        = 40 * time.Millisecond
	writeTimeout = 250 * time.Millisecond // for writes of a term that has ended: below LeaseDuration - RenewDeadline
)

// Messages of the log by which the demo knows when to freeze the leader, and what
// became of its write.
const (
	msgPrepares = "Prepares an invoice"
	msgSent     = "Sent"
	msgRejected = "Write rejected"
)

// worker is what only the leader does: send the next invoice, and the next.
type worker struct {
	invoices invoices
	control  unguarded
	logger   *slog.Logger
}

// run is one term's work. It is handed to the elector as OnStartedLeading.
func (w worker) run(ctx context.Context, term leader.Term) {
	logger := w.logger.With("fence", term.FenceToken())
	logger.Info(show.MsgWorkStarted)
	err := w.loop(ctx, term, logger)
	logger.Info(show.MsgWorkStopped, "cause", err)
}

// loop works until the term is over, and says why it is.
func (w worker) loop(ctx context.Context, term leader.Term, logger *slog.Logger) error {
	if err := w.invoices.begin(ctx, term.FenceToken()); err != nil {
		return cmp.Or(context.Cause(ctx), err) // the term ends, and with it this attempt
	}
	for ctx.Err() == nil { // this looks at the clocks
		switch err := w.sendNext(ctx, term, logger); {
		case errors.Is(err, errDeposed):
			logger.Warn(msgRejected, "error", err)
			return cmp.Or(context.Cause(ctx), err) // the term is over, even if the clocks of this process say otherwise
		case err != nil && ctx.Err() == nil:
			logger.Error("Cannot send", "error", err)
		}
		wait(ctx, pause)
	}
	return context.Cause(ctx)
}

// sendNext is one round. The caller has just seen that the term lasts, and still the
// write can come too late: the process may be frozen for longer than its lease,
// anywhere between that look and the write. The demo freezes it during the preparation.
func (w worker) sendNext(ctx context.Context, term leader.Term, logger *slog.Logger) error {
	number, err := w.invoices.next(ctx)
	controlNumber, controlErr := w.control.next(ctx)
	if err := errors.Join(err, controlErr); err != nil {
		return err
	}
	logger.Info(msgPrepares)
	prepare()
	// A write that was begun is finished, like one whose bytes are already under way;
	// but not for long.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeTimeout)
	defer cancel()
	err = w.invoices.send(ctx, invoice{number, term.FenceToken(), term.Identity()})
	controlErr = w.control.send(ctx, invoice{controlNumber, term.FenceToken(), term.Identity()})
	if err := errors.Join(err, controlErr); err != nil {
		return err
	}
	logger.Info(msgSent)
	return nil
}

// prepare stands for what takes time between the look and the write: rendering the
// invoice, a call to another service.
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
