package clock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestSinceFollowsTheMonotonicClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := Now()
		time.Sleep(3 * time.Second)
		if got := Now().Since(start); got != 3*time.Second {
			t.Fatalf("Since = %v, want 3s", got)
		}
	})
}

func TestSinceCountsASuspendThatTheMonotonicClockMissed(t *testing.T) {
	start := Now()
	if got := start.Suspended(time.Minute).Since(start); got < time.Minute {
		t.Fatalf("Since = %v, want at least 1m", got)
	}
}

func TestSinceCountsAForwardStepAndIgnoresABackwardOne(t *testing.T) {
	start := Now()
	if got := start.SteppedWall(time.Hour).Since(start); got < time.Hour {
		t.Errorf("forward: Since = %v, want at least 1h", got)
	}
	if got := start.SteppedWall(-time.Hour).Suspended(time.Second).Since(start); got != time.Second {
		t.Errorf("backward: Since = %v, want the boot-time second", got)
	}
}

func BenchmarkNow(b *testing.B) {
	for b.Loop() {
		Now()
	}
}
