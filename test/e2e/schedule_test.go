package e2e

import (
	"slices"
	"testing"
	"time"
)

// some takes the first n steps of a schedule.
func some(seed uint64, n int) []step {
	var steps []step
	for s := range schedule(seed, time.Second) {
		if steps = append(steps, s); len(steps) == n {
			break
		}
	}
	return steps
}

func TestScheduleDependsOnTheSeedAlone(t *testing.T) {
	if !slices.Equal(some(1, 500), some(1, 500)) {
		t.Error("two schedules with one seed differ")
	}
	if slices.Equal(some(1, 500), some(2, 500)) {
		t.Error("two schedules with two seeds are the same")
	}
}

func TestScheduleBeginsWithEachKindOnce(t *testing.T) {
	for seed := range uint64(20) {
		seen := make(map[faultKind]int)
		calms := (len(faultClasses) - 1) / calmsIn
		for _, s := range some(seed, len(faultClasses)+calms) {
			if !s.calm {
				seen[s.kind]++
			}
		}
		for _, c := range faultClasses {
			if seen[c.kind] != 1 {
				t.Errorf("seed %d: %s %d times", seed, c.kind, seen[c.kind])
			}
		}
	}
}

func TestScheduleShowsEachKindWithinHalfAMinute(t *testing.T) {
	for seed := range uint64(100) {
		begun := 0
		for s := range schedule(seed, 600*time.Millisecond) {
			if !s.calm {
				begun++
			}
			if begun == len(faultClasses) {
				if s.at > 30*time.Second {
					t.Errorf("seed %d: all kinds at %v", seed, s.at)
				}
				break
			}
		}
	}
}

func TestScheduleKeepsFaultsApart(t *testing.T) {
	for seed := range uint64(20) {
		var held []step // that may still hold
		for _, s := range some(seed, 1000) {
			held = slices.DeleteFunc(held, func(h step) bool { return h.at+h.hold < s.at })
			if s.calm && len(held) > 0 {
				t.Fatalf("seed %d: calm at %v under %v", seed, s.at, held)
			}
			if len(held) >= atOnce {
				t.Fatalf("seed %d: %v at %v on top of %v", seed, s, s.at, held)
			}
			if s.place == atRedis && !s.calm && slices.ContainsFunc(held, func(h step) bool { return h.place == atRedis && h.at+h.hold >= s.at }) {
				t.Fatalf("seed %d: %v at %v during another fault at Redis: %v", seed, s, s.at, held)
			}
			if !s.calm {
				held = append(held, s)
			}
		}
	}
}

func TestScheduleIsInOrderAndWithinItsBounds(t *testing.T) {
	var last time.Duration
	for _, s := range some(7, 1000) {
		if s.at < last {
			t.Fatalf("%v at %v after %v", s, s.at, last)
		}
		last = s.at
		least, most := time.Duration(s.least*1e9), time.Duration(s.most*1e9)
		if !s.calm && (s.hold < least || s.hold > most || s.target < theLeader || s.target >= candidates || s.dose < 1 || s.dose > 5) {
			t.Errorf("%+v", s)
		}
	}
}
