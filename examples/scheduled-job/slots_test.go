package main

import (
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
)

func testSlots(t *testing.T) slots {
	t.Helper()
	return slots{redistest.Start(t).Client(t), t.Name()}
}

func at(milliseconds int64) time.Time { return time.UnixMilli(milliseconds) }

func (s slots) mustRun(t *testing.T, token int64, slot time.Time) {
	t.Helper()
	if err := s.run(t.Context(), token, slot, "effect"); err != nil {
		t.Fatalf("slot %v with token %d: %v", slot, token, err)
	}
}

func TestASlotThatWasRunIsNotRunAgain(t *testing.T) {
	t.Parallel()
	s := testSlots(t)
	s.mustRun(t, 1, at(1))
	s.mustRun(t, 1, at(2))
	s.mustRun(t, 1, at(2)) // as after a reply that was lost
	s.mustRun(t, 2, at(2)) // as by the next leader
	s.mustRun(t, 2, at(1))
	if got := s.ran(t); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("effects of slots %v", got)
	}
}

func TestADeposedLeaderRunsNothing(t *testing.T) {
	t.Parallel()
	const old, current = 1<<53 - 2, 1<<53 - 1 // the largest there are
	s := testSlots(t)
	s.mustRun(t, old, at(8))
	s.mustRun(t, current, at(9))
	if err := s.run(t.Context(), old, at(10), "late"); !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("got %v", err)
	}
	s.mustRun(t, current, at(10))
	if got := s.ran(t); !slices.Equal(got, []int64{8, 9, 10}) {
		t.Errorf("effects of slots %v", got)
	}
}

// What is recorded says for which slot it is, and in which term.
func TestEffect(t *testing.T) {
	t.Parallel()
	s := testSlots(t)
	s.mustRun(t, 7, at(1234))
	entries, err := s.client.XRange(t.Context(), s.key("outbox"), "-", "+").Result()
	if err != nil || len(entries) != 1 {
		t.Fatalf("%v, %v", entries, err)
	}
	got := entries[0].Values
	if got["slot"] != "1234" || got["fence"] != "7" || got["effect"] != "effect" {
		t.Errorf("%v", got)
	}
}

// If the effect cannot be recorded, the slot is not claimed: both or neither.
func TestAFailedEffectDoesNotClaim(t *testing.T) {
	t.Parallel()
	s := testSlots(t)
	s.mustRun(t, 1, at(1))
	outbox := s.key("outbox")
	if err := s.client.Rename(t.Context(), outbox, outbox+":aside").Err(); err != nil {
		t.Fatal(err)
	}
	s.client.Set(t.Context(), outbox, "of another type", 0)
	if err := s.run(t.Context(), 2, at(2), "effect"); err == nil {
		t.Error("recorded in a string")
	}
	s.client.Rename(t.Context(), outbox+":aside", outbox)
	if latest, err := s.latest(t.Context()); err != nil || !latest.Equal(at(1)) {
		t.Errorf("latest slot %v, %v", latest, err)
	}
	s.mustRun(t, 1, at(2)) // token 2 has left no trace either
	if got := s.ran(t); !slices.Equal(got, []int64{1, 2}) {
		t.Errorf("effects of slots %v", got)
	}
}

// However many believe that they lead, with or without a higher token, each slot has one
// effect.
func TestClaimsExclude(t *testing.T) {
	t.Parallel()
	const last, leaders = 50, 8
	s := testSlots(t)
	slot := func(n int64) time.Time { return at(n * demoPeriod.Milliseconds()) }
	var all sync.WaitGroup
	for token := range int64(leaders) {
		all.Go(func() {
			for n := range int64(last) {
				err := s.run(t.Context(), token+1, slot(n+1), "effect")
				if err != nil && !errors.Is(err, leader.ErrDeposed) {
					t.Errorf("slot %d: %v", n+1, err)
				}
			}
		})
	}
	all.Wait()
	got := s.ran(t)
	if c := count(got, slot(1).UnixMilli(), slot(last)); c != (tally{0, last, 0}) || len(got) != last {
		t.Errorf("%v: %v", c, got)
	}
}
