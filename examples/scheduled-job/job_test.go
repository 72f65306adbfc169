package main

import (
	"slices"
	"testing"
	"time"
)

// runAll runs what is due at slot latest.
func runAll(t *testing.T, j job, latest int64) {
	t.Helper()
	w := worker{schedule: schedule{time.Now().Add(-time.Duration(latest) * time.Hour), time.Hour}}
	if err := w.runDue(t.Context(), j); err != nil {
		t.Fatal(err)
	}
}

func TestTheNextLeaderCatchesUp(t *testing.T) {
	t.Parallel()
	c := testClaims(t)
	first, err := startClaimed(t.Context(), c, 1, "first")
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, first, 2)
	second, err := startClaimed(t.Context(), c, 2, "second")
	if err != nil {
		t.Fatal(err)
	}
	runAll(t, second, 6) // nobody led while 3, 4 and 5 were due
	if slots := c.recorded(t); !slices.Equal(slots, []int64{0, 1, 2, 3, 4, 5, 6}) {
		t.Errorf("effects of slots %v", slots)
	}
}

// The controls have to do what they are here to show.
func TestControls(t *testing.T) {
	t.Parallel()
	c := testClaims(t)
	first := newMemory(c.client, c.keys, "first", -1)
	second := newMemory(c.client, c.keys, "second", -1)
	for _, term := range []struct {
		m             *memory
		begins, until int64
	}{{first, 0, 2}, {second, 6, 8}} {
		term.m.begin(term.begins)
		runAll(t, &term.m.forgetful, term.until)
		runAll(t, &term.m.repeating, term.until)
	}
	b, err := readBooks(t.Context(), c.client, c.keys)
	if err != nil {
		t.Fatal(err)
	}
	if got := count(b.forgetful, 8); got != (tally{once: 6, never: 3}) {
		t.Errorf("the forgetful one: %+v", got)
	}
	if got := count(b.repeating, 8); got != (tally{once: 6, more: 3}) {
		t.Errorf("the repeating one: %+v", got)
	}
}
