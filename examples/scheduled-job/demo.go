package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"github.com/redisleader/redisleader/examples/internal/demo"
)

const demoPeriod = 200 * time.Millisecond

// init plays the show, or adds the control to a replica of it.
func init() {
	b := &books{}
	demo.Start(demo.Show{
		Name:     "scheduled-job",
		About:    "A job is due every 200 ms. Three replicas compete for running it, and the leader is killed every second.",
		Lease:    500 * time.Millisecond, // longer than a slot: a killed leader leaves slots behind
		Duration: 15 * time.Second,
		Scenes:   []demo.Scene{demo.CrashEvery(time.Second), {Title: "Catching up: the last leader runs what is overdue", Play: b.catchUp}},
		Open: func(_ context.Context, s demo.Setup) (demo.Store, error) {
			b.slots = slots{s.Redis, s.Election}
			return b, nil
		},
		Env: func(demo.Setup) []string { return []string{"PERIOD=" + demoPeriod.String()} },
	})
	if os.Getenv("DEMO") == "replica" {
		os.Exit(replica(withControl()))
	}
}

// books are the outboxes, as the show sees them.
type books struct {
	slots slots
	due   time.Time // up to which the slots are accounted for
}

// catchUp waits for the slots that are due by now. Once the one after them has been run,
// the control has had its turn with them, too.
func (b *books) catchUp(ctx context.Context, _ *demo.Cluster, _ demo.Term) error {
	b.due = time.Now()
	return demo.Await(ctx, func() bool {
		latest, err := b.slots.latest(ctx)
		return err == nil && latest.After(b.due.Add(demoPeriod))
	})
}

// Writes are the tokens in the outbox.
func (b *books) Writes(ctx context.Context) ([]int64, error) { return b.read(ctx, "outbox", "fence") }

// Report accounts for each slot.
func (b *books) Report(ctx context.Context, _ []demo.Term) (demo.Report, error) {
	run, err := b.read(ctx, "outbox", "slot")
	forgetful, forgetfulErr := b.read(ctx, "control:forgetful", "slot")
	repeating, repeatingErr := b.read(ctx, "control:repeating", "slot")
	return demo.Report{Checks: judge(run, forgetful, repeating, b.due)}, errors.Join(err, forgetfulErr, repeatingErr)
}

// Close leaves nothing behind in a Redis that is not ours.
func (b *books) Close(ctx context.Context) error {
	key := b.slots.key
	return b.slots.client.Del(ctx, key("latest"), key("outbox"), key("control:forgetful"), key("control:repeating")).Err()
}

// read reads one field of all that is in an outbox.
func (b *books) read(ctx context.Context, outbox, field string) ([]int64, error) {
	entries, err := b.slots.client.XRange(ctx, b.slots.key(outbox), "-", "+").Result()
	values := make([]int64, len(entries))
	for i, e := range entries {
		text, _ := e.Values[field].(string)
		if values[i], err = strconv.ParseInt(text, 10, 64); err != nil {
			return nil, err
		}
	}
	return values, err
}

// judge says what the outboxes prove about the slots from the first that was run to the
// latest that was due.
func judge(run, forgetful, repeating []int64, due time.Time) []demo.Check {
	var job, f, r tally
	if len(run) > 0 {
		job, f, r = count(run, run[0], due), count(forgetful, run[0], due), count(repeating, run[0], due)
	}
	const row = "%-46s %4d once, %3d twice or more, %3d never"
	return []demo.Check{
		{Holds: job[1] > 0 && job[0]+job[2] == 0, Text: fmt.Sprintf(row, "slots claimed with the token:", job[1], job[2], job[0])},
		{Holds: slices.IsSorted(run), Text: "slots claimed with the token ran in order"},
		{Holds: f[0] > 0, Text: fmt.Sprintf(row, "control, begins with the slot due next:", f[1], f[2], f[0])},
		{Holds: r[2] > 0, Text: fmt.Sprintf(row, "control, goes on after the slot it remembers:", r[1], r[2], r[0])},
	}
}

// tally is how many slots were run never, once, and more often.
type tally [3]int

func count(run []int64, first int64, due time.Time) (t tally) {
	runs := make(map[int64]int)
	for _, slot := range run {
		runs[slot]++
	}
	for slot := first; slot <= due.UnixMilli(); slot += demoPeriod.Milliseconds() {
		t[min(runs[slot], 2)]++
	}
	return t
}
