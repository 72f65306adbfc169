package redislock

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestStaggerGivesEachAMomentOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := New(nil)
		for round := range 2 {
			for i := range 1000 {
				if wait := c.Stagger(); wait != time.Duration(i)*staggerStep {
					t.Fatalf("round %d: call %d is to wait for %v", round, i, wait)
				}
			}
			time.Sleep(time.Second) // a pause
		}
		c.Stagger()
		time.Sleep(staggerStep / 4)
		if wait := c.Stagger(); wait != staggerStep*3/4 {
			t.Errorf("soon after another a call is to wait for %v", wait)
		}
	})
}

// After a lost connection all who watch are told in the same moment, each of a lock of
// its own.
func TestSubscribedSuggestsAttemptsOneAfterTheOther(t *testing.T) {
	s := ownScene(t)
	c := New(s.app)
	const watches = 200
	var all []*Watch
	for i := range watches {
		all = append(all, watching(t, c, job+string(rune('a'+i))))
	}
	time.Sleep(watches * staggerStep)
	s.must(s.redis.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
	longest := time.Duration(0)
	for _, w := range all {
		longest = max(longest, expect(t, w, Subscribed).Delay)
	}
	if longest < watches*staggerStep/4 {
		t.Errorf("the longest delay of %d is %v", watches, longest)
	}
}

// Who joins those that listen already looks in a moment of its own.
func TestWatchOfAChannelThatIsHeardIsStaggered(t *testing.T) {
	s := ownScene(t)
	client := New(s.app)
	watching(t, client, job)
	for range 10_000 {
		client.Stagger() // a second of moments
	}
	w := client.Watch(job)
	defer w.Close()
	if a := expect(t, w, Subscribed); a.Delay == 0 {
		t.Error("it is to try at once")
	}
}
