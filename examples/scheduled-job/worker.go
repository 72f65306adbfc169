package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
	"github.com/redisleader/redisleader/leader"
)

// worker is what only the leader does: run the slots that are due.
type worker struct {
	schedule schedule
	claims   claims
	controls *memory
	logger   *slog.Logger
}

// run is one term's work. It is handed to the elector as OnStartedLeading.
func (w worker) run(ctx context.Context, term leader.Term) {
	logger := w.logger.With("fence", term.FenceToken())
	logger.Info(show.MsgWorkStarted)
	err := w.loop(ctx, term, logger)
	logger.Info(show.MsgWorkStopped, "cause", err)
}

// loop works until the term is over, and says why it is. That it stops soon is a
// courtesy to the next leader; what keeps it from doing harm if it does not, because
// its process was frozen in between, is the token on each claim.
func (w worker) loop(ctx context.Context, term leader.Term, logger *slog.Logger) error {
	job, err := startClaimed(ctx, w.claims, term.FenceToken(), term.Identity())
	if err != nil {
		return cmp.Or(context.Cause(ctx), err) // the term ends, and with it this attempt
	}
	latest := w.schedule.latest(time.Now())
	if job.next() < latest {
		logger.Info(msgCatchesUp, "detail", fmt.Sprintf("slots %d to %d", job.next(), latest))
	}
	w.controls.begin(latest)
	for ctx.Err() == nil { // this looks at the clocks
		switch err := w.runDue(ctx, job); {
		case errors.Is(err, errDeposed):
			return cmp.Or(context.Cause(ctx), err) // the term is over, even if the clocks of this process say otherwise
		case err != nil && ctx.Err() == nil:
			logger.Error("Cannot run a slot", "error", err) // it stays the next one, and is tried again
		}
		_ = w.runDue(ctx, &w.controls.forgetful)
		_ = w.runDue(ctx, &w.controls.repeating)
		wait(ctx, time.Until(w.schedule.at(w.schedule.latest(time.Now())+1)))
	}
	return context.Cause(ctx)
}

// runDue runs what is due and was not yet run, in order.
func (w worker) runDue(ctx context.Context, j job) error {
	for j.next() <= w.schedule.latest(time.Now()) && ctx.Err() == nil {
		if err := j.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// wait waits for d, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
