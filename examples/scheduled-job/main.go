// Command scheduled-job runs a job in each slot of a schedule exactly once, whatever
// happens to the process that runs it. Start as many replicas as you like; one of them
// leads and runs the job. If it dies, another takes over and first runs what is overdue.
//
// To see that, with the leader killed every second and nothing to set up:
//
//	go run ./examples/scheduled-job
//
// For a job of your own, copy main.go, slots.go and run_slot.lua; control.go and demo.go
// are the show. Without demo.go, or with DEMO=off, the command is one replica. The
// environment configures it:
//
//	REDIS_URL       default redis://127.0.0.1:6379/0
//	ELECTION_NAME   what the replicas compete for; default scheduled-job
//	IDENTITY        who this replica is, for people; default host_pid_random
//	LEASE_DURATION  how long the others wait after a leader has died; default 15s
//	PERIOD          of the schedule; default 1m
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

func main() { os.Exit(replica(worker.lead)) }

// replica is the whole process. It returns the exit status.
func replica(lead func(worker, context.Context, leader.Term)) int {
	// The elector logs here, too. go-redis's own log is off: what matters is in its errors.
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	logging.Disable()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, lead); err != nil {
		slog.Error("Replica failed", "error", err)
		return 1
	}
	return 0
}

// run competes until ctx ends, and calls lead in each term.
func run(ctx context.Context, lead func(worker, context.Context, leader.Term)) error {
	options, err := redis.ParseURL(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6379/0"))
	if err != nil { // which may show the password
		return errors.New("REDIS_URL is not like redis://user:password@host:6379/0")
	}
	options.ContextTimeoutEnabled = true // or a context does not interrupt a call that hangs
	lease, err := time.ParseDuration(cmp.Or(os.Getenv("LEASE_DURATION"), "15s"))
	if err != nil {
		return fmt.Errorf("LEASE_DURATION: %w", err)
	}
	period, err := time.ParseDuration(cmp.Or(os.Getenv("PERIOD"), "1m"))
	if err != nil || period <= 0 {
		return errors.New("PERIOD is not a positive duration like 1m")
	}
	// Two clients, so that a job that uses up its connections does not delay renewals.
	elections, data := redis.NewClient(options), redis.NewClient(options)
	defer func() { _ = errors.Join(elections.Close(), data.Close()) }()

	name := cmp.Or(os.Getenv("ELECTION_NAME"), "scheduled-job")
	w := worker{slots{data, name}, period}
	return leader.Run(ctx, redislock.New(elections), leader.Config{
		Name:          name,
		Identity:      os.Getenv("IDENTITY"),
		LeaseDuration: lease,
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(ctx context.Context, term leader.Term) { lead(w, ctx, term) },
		},
	})
}

// worker is what only the leader does.
type worker struct {
	slots  slots
	period time.Duration
}

// lead is the work of one term. An error ends the term. That loses nothing: the next
// leader, which may be this one, asks the store where to go on.
func (w worker) lead(ctx context.Context, term leader.Term) {
	latest, err := w.slots.latest(ctx)
	if err == nil {
		err = w.each(ctx, latest, func(ctx context.Context, slot time.Time) error {
			return w.slots.run(ctx, term.FenceToken(), slot, "report for "+slot.Format(time.RFC3339Nano))
		})
	}
	term.Fail(err)
}

// each calls run for each slot after an instant: at once if it is overdue, or else when
// it is due. It returns the first error, or the cause of ctx.
func (w worker) each(ctx context.Context, after time.Time, run func(context.Context, time.Time) error) error {
	for slot := w.next(after); ; slot = w.next(slot) {
		if err := leader.Sleep(ctx, time.Until(slot)); err != nil {
			return err
		}
		if err := run(ctx, slot); err != nil {
			return err
		}
	}
}

// next is the first slot after an instant. A slot is named by the time it is due, which
// all replicas agree on, whatever their clocks say. With a cron expression, this is the
// method Next of its schedule.
func (w worker) next(after time.Time) time.Time {
	return after.Truncate(w.period).Add(w.period)
}
