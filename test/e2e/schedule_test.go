package e2e

import (
	"slices"
	"testing"
	"time"
)

// firstSteps returns the first n steps of a schedule.
func firstSteps(seed uint64, n int) []step {
	var steps []step
	for s := range schedule(seed, time.Second) {
		if steps = append(steps, s); len(steps) == n {
			break
		}
	}
	return steps
}

func TestScheduleDependsOnTheSeedAlone(t *testing.T) {
	if !slices.Equal(firstSteps(1, 500), firstSteps(1, 500)) {
		t.Error("two schedules with one seed differ")
	}
	if slices.Equal(firstSteps(1, 500), firstSteps(2, 500)) {
		t.Error("two schedules with two seeds are the same")
	}
}

func TestScheduleBeginsWithEachKindOnce(t *testing.T) {
	for seed := range uint64(20) {
		seen := make(map[faultKind]int)
		quiet := (len(faultClasses) - 1) / quietEvery
		for _, s := range firstSteps(seed, len(faultClasses)+quiet) {
			if !s.quiet {
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

func TestScheduleHasEachKindWithinHalfAMinute(t *testing.T) {
	for seed := range uint64(100) {
		begun := 0
		for s := range schedule(seed, 600*time.Millisecond) {
			if !s.quiet {
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
		var active []step
		for _, s := range firstSteps(seed, 1000) {
			active = slices.DeleteFunc(active, func(other step) bool { return other.at+other.hold < s.at })
			if s.quiet && len(active) > 0 {
				t.Fatalf("seed %d: a quiet period at %v during %v", seed, s.at, active)
			}
			if len(active) >= atOnce {
				t.Fatalf("seed %d: %v at %v, too many besides %v", seed, s, s.at, active)
			}
			busy := func(other step) bool { return other.place == atRedis && other.at+other.hold >= s.at }
			if s.place == atRedis && !s.quiet && slices.ContainsFunc(active, busy) {
				t.Fatalf("seed %d: %v at %v during another fault at Redis: %v", seed, s, s.at, active)
			}
			if !s.quiet {
				active = append(active, s)
			}
		}
	}
}

func TestScheduleIsInOrderAndWithinItsBounds(t *testing.T) {
	var last time.Duration
	for _, s := range firstSteps(7, 1000) {
		if s.at < last {
			t.Fatalf("%v at %v after %v", s, s.at, last)
		}
		last = s.at
		least, most := time.Duration(s.least*1e9), time.Duration(s.most*1e9)
		if s.quiet {
			continue
		}
		if s.hold < least || s.hold > most || s.target < theLeader || s.target >= candidates || s.strength < 1 || s.strength > 5 {
			t.Errorf("%+v", s)
		}
	}
}
