package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNextSlot(t *testing.T) {
	t.Parallel()
	w := worker{period: time.Minute}
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct{ after, want time.Duration }{
		{-time.Nanosecond, 0},
		{0, time.Minute},
		{time.Minute - 1, time.Minute},
		{time.Hour, time.Hour + time.Minute},
	} {
		if got := w.next(noon.Add(c.after)); !got.Equal(noon.Add(c.want)) {
			t.Errorf("%v after noon, the next slot is at %v", c.after, got)
		}
	}
}

// leadUntil has w lead a term until its store satisfies a condition. It returns why the
// term ended.
func leadUntil(t *testing.T, w worker, token int64, lead func(worker, context.Context, leader.Term), until func() bool) error {
	t.Helper()
	term := leadertest.NewTerm(leadertest.TermConfig{Name: "job", Identity: "r", FenceToken: token})
	done := make(chan struct{})
	go func() { // joined below
		defer close(done)
		lead(w, term.Context(), term.Term)
	}()
	deadline := time.Now().Add(20 * time.Second)
	for !until() && time.Now().Before(deadline) && term.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	term.End(leader.ErrResigned)
	<-done
	return context.Cause(term.Context())
}

func TestTheNextLeaderCatchesUp(t *testing.T) {
	t.Parallel()
	w := worker{testSlots(t), time.Hour}
	first := w.next(time.Now().Add(-6 * time.Hour))
	w.slots.mustRun(t, 1, first) // and then that leader died, and nobody led
	want := []int64{first.UnixMilli()}
	for slot := w.next(first); slot.Before(time.Now()); slot = w.next(slot) {
		want = append(want, slot.UnixMilli())
	}
	err := leadUntil(t, w, 2, worker.lead, func() bool { return len(w.slots.ran(t)) >= len(want) })
	if got := w.slots.ran(t); !slices.Equal(got, want) || !errors.Is(err, leader.ErrResigned) {
		t.Errorf("ran %v, want %v; the term ended with %v", got, want, err)
	}
}

// A schedule that has never been run begins with the next slot, not in 1970.
func TestTheFirstLeaderOfAll(t *testing.T) {
	t.Parallel()
	w := worker{testSlots(t), demoPeriod / 10}
	start := time.Now().UnixMilli()
	_ = leadUntil(t, w, 1, worker.lead, func() bool { return len(w.slots.ran(t)) >= 5 })
	got := w.slots.ran(t)
	if len(got) < 5 || got[0] < start {
		t.Fatalf("ran %v since %d", got, start)
	}
	for i, slot := range got {
		if slot != got[0]+int64(i)*w.period.Milliseconds() {
			t.Errorf("ran %v", got)
		}
	}
}

func TestADeposedLeaderEndsItsTerm(t *testing.T) {
	t.Parallel()
	w := worker{testSlots(t), time.Hour}
	slot := w.next(time.Now().Add(-5 * time.Hour))
	w.slots.mustRun(t, 9, slot)
	err := leadUntil(t, w, 8, worker.lead, func() bool { return false })
	if !errors.Is(err, leader.ErrDeposed) || len(w.slots.ran(t)) != 1 {
		t.Errorf("ran %v; the term ended with %v", w.slots.ran(t), err)
	}
}

// The control has to do what it is here to show.
func TestControl(t *testing.T) {
	t.Parallel()
	w := worker{testSlots(t), demoPeriod}
	have := func(outbox string, n int) func() bool {
		return func() bool { return len(w.slots.slotsIn(t, outbox)) >= n }
	}
	first, second := withControl(), withControl()
	_ = leadUntil(t, w, 1, first, have("control:forgetful", 2))
	time.Sleep(3 * w.period) // nobody leads
	_ = leadUntil(t, w, 2, second, have("control:forgetful", 4))
	_ = leadUntil(t, w, 3, worker.lead, have("outbox", 8))

	job, forgetful, repeating := w.slots.ran(t), w.slots.slotsIn(t, "control:forgetful"), w.slots.slotsIn(t, "control:repeating")
	due := at(forgetful[len(forgetful)-1])
	if c := count(job, job[0], due); c[0]+c[2] > 0 {
		t.Errorf("the job itself: %v", c)
	}
	if c := count(forgetful, job[0], due); c[0] < 2 || c[2] > 0 {
		t.Errorf("the forgetful one: %v", c)
	}
	if c := count(repeating, job[0], due); c[2] == 0 {
		t.Errorf("the repeating one: %v", c)
	}
}

func (s slots) slotsIn(t *testing.T, outbox string) (slots []int64) {
	t.Helper()
	slots, err := (&books{slots: s}).read(t.Context(), outbox, "slot")
	if err != nil {
		t.Fatal(err)
	}
	return slots
}

// ran is the slots whose effect was recorded.
func (s slots) ran(t *testing.T) []int64 {
	t.Helper()
	return s.slotsIn(t, "outbox")
}
