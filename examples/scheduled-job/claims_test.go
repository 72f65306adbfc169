package main

import (
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
)

func testClaims(t *testing.T) claims {
	t.Helper()
	return claims{redistest.Start(t).Client(t), keys(t.Name())}
}

// recorded are the slots whose effect was recorded.
func (c claims) recorded(t *testing.T) (slots []int64) {
	t.Helper()
	entries, err := readOutbox(t.Context(), c.client, c.keys.outbox())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		slots = append(slots, e.slot)
	}
	return slots
}

func (c claims) mustRun(t *testing.T, fence, slot int64) {
	t.Helper()
	if err := c.run(t.Context(), fence, slot, entry{slot, fence, "r"}.String()); err != nil {
		t.Fatalf("slot %d with token %d: %v", slot, fence, err)
	}
}

func TestASlotThatWasRunIsNotRunAgain(t *testing.T) {
	t.Parallel()
	c := testClaims(t)
	c.mustRun(t, 1, 0)
	c.mustRun(t, 1, 0) // as after a reply that was lost
	c.mustRun(t, 2, 0) // as by the next leader
	if slots := c.recorded(t); !slices.Equal(slots, []int64{0}) {
		t.Errorf("effects of slots %v", slots)
	}
}

func TestADeposedLeaderRunsNothing(t *testing.T) {
	t.Parallel()
	const old, current = 1<<53 - 2, 1<<53 - 1 // the largest there are
	c := testClaims(t)
	c.mustRun(t, old, 8)
	c.mustRun(t, current, 9)
	if err := c.run(t.Context(), old, 10, "10 1 late"); !errors.Is(err, errDeposed) {
		t.Errorf("got %v", err)
	}
	c.mustRun(t, current, 10)
	if slots := c.recorded(t); !slices.Equal(slots, []int64{8, 9, 10}) {
		t.Errorf("effects of slots %v", slots)
	}
}

func TestWhereToGoOn(t *testing.T) {
	t.Parallel()
	c := testClaims(t)
	check := func(wantNext, wantFence int64) {
		t.Helper()
		next, err := c.next(t.Context())
		fence, fenceErr := c.highestFence(t.Context())
		if next != wantNext || fence != wantFence || err != nil || fenceErr != nil {
			t.Errorf("next slot %d, highest token %d, %v, %v; want %d, %d", next, fence, err, fenceErr, wantNext, wantFence)
		}
	}
	check(0, 0)
	for slot := range int64(11) { // 10 comes after 9, not after 1
		c.mustRun(t, 100+slot, slot)
	}
	check(11, 110)
}

// However many believe to lead, with or without a higher token, each slot has one effect.
func TestClaimsExclude(t *testing.T) {
	t.Parallel()
	const slots, leaders = 50, 8
	c := testClaims(t)
	var all sync.WaitGroup
	for fence := range int64(leaders) {
		all.Go(func() {
			for slot := range int64(slots) {
				err := c.run(t.Context(), fence+1, slot, entry{slot, fence + 1, "r"}.String())
				if err != nil && !errors.Is(err, errDeposed) {
					t.Errorf("slot %d: %v", slot, err)
				}
			}
		})
	}
	all.Wait()
	entries, err := readOutbox(t.Context(), c.client, c.keys.outbox())
	if got := count(entries, slots-1); err != nil || !got.exact() {
		t.Errorf("%+v, %v", got, err)
	}
}
