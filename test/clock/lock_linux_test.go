package clock

import (
	"errors"
	"testing"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

const (
	key   = "{lock}"
	fence = "{lock}:fence"
)

// The holder of a lock does not know that the clock of the server was set forward until
// it asks. Then it takes the answer as final and leaves the other holder's lock alone.
func TestForwardStepUnderALock(t *testing.T) {
	t.Parallel()
	s := start(t)
	client, opt := redislock.New(s.redis), &redislock.Options{FenceKey: fence, FenceClock: true}
	first, err := client.Obtain(t.Context(), key, lease, opt)
	if err != nil {
		t.Fatal(err)
	}
	s.step(step)
	second, err := client.Obtain(t.Context(), key, lease, opt)
	if err != nil {
		t.Fatal(err)
	}
	if first.Remaining() <= 0 || second.Remaining() <= 0 {
		t.Errorf("remaining: %v and %v: this machine is too slow to show the overlap", first.Remaining(), second.Remaining())
	}
	if first.FenceToken() >= second.FenceToken() {
		t.Errorf("fencing tokens %d, then %d", first.FenceToken(), second.FenceToken())
	}
	if err := first.Refresh(t.Context(), lease, nil); err != redislock.ErrNotObtained || first.Remaining() > 0 {
		t.Errorf("Refresh = %v with %v left, want %v and nothing left", err, first.Remaining(), redislock.ErrNotObtained)
	}
	if err := first.Release(t.Context()); err != redislock.ErrLockNotHeld {
		t.Errorf("Release = %v, want %v", err, redislock.ErrLockNotHeld)
	}
	if err := second.Release(t.Context()); err != nil {
		t.Errorf("Release of the second: %v", err)
	}
}

// If the clock of the server is set back, the lock stays longer than its holder relies
// on it. That is the safe side.
func TestBackwardStepUnderALock(t *testing.T) {
	t.Parallel()
	const ttl = 100 * time.Millisecond
	s := start(t)
	client := redislock.New(s.redis)
	first, err := client.Obtain(t.Context(), key, ttl, nil)
	if err != nil {
		t.Fatal(err)
	}
	s.step(-step)
	s.await("Remaining is over", func() bool { return first.Remaining() <= 0 })
	time.Sleep(2 * ttl)
	if _, err := client.Obtain(t.Context(), key, ttl, nil); err != redislock.ErrNotObtained {
		t.Errorf("Obtain = %v, want %v", err, redislock.ErrNotObtained)
	}
	if err := first.Release(t.Context()); err != nil { // still ours, although Remaining is over
		t.Errorf("Release = %v", err)
	}
}

// With FenceClock a token is the time of the server as long as that moves forward, and
// otherwise the last token plus one.
func TestFenceClockAcrossSteps(t *testing.T) {
	t.Parallel()
	s := start(t)
	mint := func() int64 {
		t.Helper()
		lock, err := redislock.Obtain(t.Context(), s.redis, key, lease, &redislock.Options{FenceKey: fence, FenceClock: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Release(t.Context()); err != nil && !errors.Is(err, redislock.ErrLockNotHeld) {
			t.Fatal(err)
		}
		return lock.FenceToken()
	}
	before := s.now().UnixMicro()
	last := mint()
	if last < before {
		t.Errorf("token %d is less than the time, %d", last, before)
	}
	for _, d := range []time.Duration{-step, -time.Hour} {
		s.step(d)
		for range 3 {
			if token := mint(); token != last+1 {
				t.Errorf("%v later: token %d after %d, want it one higher", d, token, last)
			}
			last++
		}
	}
	s.step(2 * time.Hour)
	if token := mint(); token < s.now().Add(-waitLimit).UnixMicro() || token <= last {
		t.Errorf("token %d after %d, at the time %d", token, last, s.now().UnixMicro())
	}
}
