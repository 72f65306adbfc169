package announce

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStaggerGivesEachAMomentOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		subs := New(nil)
		for round := range 2 {
			for i := range 1000 {
				if wait := subs.Stagger(); wait != time.Duration(i)*staggerStep {
					t.Fatalf("round %d: call %d is to wait for %v", round, i, wait)
				}
			}
			time.Sleep(time.Second) // a pause
		}
		subs.Stagger()
		time.Sleep(staggerStep / 4)
		if wait := subs.Stagger(); wait != staggerStep*3/4 {
			t.Errorf("soon after another a call is to wait for %v", wait)
		}
	})
}

func TestDelaysSpreadAttempts(t *testing.T) {
	if d := delayOf(0, 1); d != 0 {
		t.Errorf("a single listener is to wait for %v", d)
	}
	for _, listeners := range []int{-5, 0, 1, 2, 100, maxListeners} {
		for index := range 3 {
			low, high := time.Duration(index*max(listeners, 1))*spread, time.Duration((index+1)*max(listeners, 1))*spread
			if d := delayOf(index, listeners); d < low || d > high {
				t.Errorf("delay of watch %d with %d listeners is %v, want %v to %v", index, listeners, d, low, high)
			}
		}
	}
}

// Of many that are notified together a few try at once: seldom none, and never a herd.
func TestAFewTryAtOnce(t *testing.T) {
	const listeners, rounds = 50, 1000
	none, atOnce := 0, 0
	for range rounds {
		n := 0
		for range listeners {
			if delayOf(0, listeners) == 0 {
				n++
			}
		}
		atOnce += n
		if n == 0 {
			none++
		}
	}
	if mean := float64(atOnce) / rounds; mean < 1 || mean > 4 {
		t.Errorf("%.2f of %d try at once on average", mean, listeners)
	}
	if none > rounds/3 {
		t.Errorf("nobody tried at once in %d of %d rounds", none, rounds)
	}
}
