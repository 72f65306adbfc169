package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// next obtains and releases the lock of the scene and returns its fencing token.
func (s *scene) next(opt Options) int64 {
	s.Helper()
	opt.FenceKey = s.fence
	lock := s.obtain(long, &opt)
	s.wantField(s.key, "fence", strconv.FormatInt(lock.FenceToken(), 10))
	s.must(lock.Release(s.Context()))
	return lock.FenceToken()
}

func TestFenceStartsAtOneAndCountsAcquisitions(t *testing.T) {
	s := newScene(t)
	for want := int64(1); want <= 5; want++ {
		lock := s.obtain(long, &Options{FenceKey: s.fence})
		if lock.FenceToken() != want {
			t.Fatalf("fence = %d, want %d", lock.FenceToken(), want)
		}
		s.must(lock.Refresh(t.Context(), long, nil))
		if _, err := s.client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence}); err != ErrNotObtained {
			t.Fatal(err)
		}
		s.wantCounter(fmt.Sprint(want)) // neither a refresh nor a refused attempt counts
		s.must(lock.Release(t.Context()))
	}
}

func TestFenceCounterOutlivesTheLock(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, &Options{FenceKey: s.fence})
	if ttl, err := s.redis.PTTL(t.Context(), s.fence).Result(); err != nil || ttl != -1 {
		t.Errorf("ttl of the counter = %v, %v, want none", ttl, err)
	}
	s.must(lock.Release(t.Context()))
	s.wantCounter("1")
}

func TestReobtainKeepsTheFence(t *testing.T) {
	s := newScene(t)
	opt := Options{FenceKey: s.fence, Token: "mine"}
	first := s.obtain(long, &opt)
	for range 3 {
		if again := s.obtain(long, &opt); again.FenceToken() != first.FenceToken() {
			t.Errorf("fence = %d, want %d", again.FenceToken(), first.FenceToken())
		}
	}
	opt.FenceClock = true
	if again := s.obtain(long, &opt); again.FenceToken() != first.FenceToken() {
		t.Errorf("with a clock: fence = %d, want %d", again.FenceToken(), first.FenceToken())
	}
	s.wantCounter("1")
}

func TestReobtainMintsWhenTheFloorHasOvertaken(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct{ floor, want int64 }{{0, 1}, {1, 2}, {1, 2}, {10, 11}, {10, 11}, {11, 12}, {3, 12}} {
		lock := s.obtain(long, &Options{FenceKey: s.fence, Token: "mine", FenceFloor: c.floor})
		if lock.FenceToken() != c.want {
			t.Errorf("floor %d: fence = %d, want %d", c.floor, lock.FenceToken(), c.want)
		}
		s.wantField(s.key, "fence", fmt.Sprint(c.want))
	}
}

func TestReobtainMintsForALockThatHadNoFence(t *testing.T) {
	s := newScene(t)
	s.obtain(long, &Options{Token: "mine"})
	if lock := s.obtain(long, &Options{Token: "mine", FenceKey: s.fence}); lock.FenceToken() != 1 {
		t.Errorf("fence = %d, want 1", lock.FenceToken())
	}
}

func TestFenceFloorIsExceeded(t *testing.T) {
	s := newScene(t)
	for _, c := range []struct{ floor, want int64 }{{41, 42}, {0, 43}, {43, 44}, {7, 45}} {
		if got := s.next(Options{FenceFloor: c.floor}); got != c.want {
			t.Errorf("floor %d: fence = %d, want %d", c.floor, got, c.want)
		}
	}
}

func TestFenceClockIsTheServersTime(t *testing.T) {
	s := newScene(t)
	before, err := s.redis.Time(t.Context()).Result()
	s.must(err)
	got := s.next(Options{FenceClock: true})
	after, err := s.redis.Time(t.Context()).Result()
	s.must(err)
	if got < before.UnixMicro() || got > after.UnixMicro() {
		t.Errorf("fence = %d, want it between %d and %d", got, before.UnixMicro(), after.UnixMicro())
	}
	if next := s.next(Options{}); next != got+1 {
		t.Errorf("next fence = %d, want %d", next, got+1)
	}
	ahead := after.Add(time.Hour).UnixMicro()
	if next := s.next(Options{FenceClock: true, FenceFloor: ahead}); next != ahead+1 {
		t.Errorf("fence above a floor that is ahead of the clock = %d, want %d", next, ahead+1)
	}
	if next := s.next(Options{FenceClock: true}); next != ahead+2 {
		t.Errorf("fence of a counter that is ahead of the clock = %d, want %d", next, ahead+2)
	}
}

func TestA12_FenceAfterTheCounterWasLost(t *testing.T) {
	s := ownScene(t)
	lose := func() { s.must(s.redis.FlushAll(t.Context()).Err()) }
	for range 5 {
		s.next(Options{})
	}
	lose()
	if got := s.next(Options{}); got != 1 {
		t.Errorf("with neither floor nor clock: fence = %d, want the documented regress to 1", got)
	}
	lose()
	if got := s.next(Options{FenceFloor: 5}); got != 6 {
		t.Errorf("with a floor: fence = %d, want 6", got)
	}
	last := s.next(Options{FenceClock: true})
	for range 3 {
		lose()
		got := s.next(Options{FenceClock: true})
		if got <= last {
			t.Errorf("with a clock: fence %d after %d", got, last)
		}
		last = got
	}
}

func TestA12_FenceAfterARestartFromAnOlderSnapshot(t *testing.T) {
	s := ownScene(t, "--dbfilename", "old.rdb")
	s.next(Options{FenceClock: true})
	s.must(s.redis.Save(t.Context()).Err())
	last := s.next(Options{FenceClock: true})
	s.server.Kill()
	s.server.Restart()
	if got := s.next(Options{FenceClock: true}); got <= last {
		t.Errorf("fence %d after %d", got, last)
	}
}

func TestFenceKeepsAllDigits(t *testing.T) {
	s := newScene(t)
	s.must(s.redis.Set(t.Context(), s.fence, int64(maxFence-3), 0).Err())
	for want := int64(maxFence - 2); want <= maxFence; want++ {
		if got := s.next(Options{}); got != want {
			t.Errorf("fence = %d, want %d", got, want)
		}
		s.wantCounter(strconv.FormatInt(want, 10))
	}
	s.must(s.redis.Del(t.Context(), s.fence).Err())
	if got := s.next(Options{FenceFloor: maxFence - 2}); got != maxFence-1 {
		t.Errorf("fence = %d, want %d", got, int64(maxFence-1))
	}
	var holder Holder
	opt := &Options{FenceKey: s.fence, OnHeld: func(h Holder) { holder = h }}
	s.obtain(long, opt)
	if _, err := s.client.Obtain(t.Context(), s.key, long, opt); err != ErrNotObtained || holder.FenceToken != maxFence {
		t.Errorf("%v, holder %+v", err, holder)
	}
}

// TestUnusableFenceCounter gives tokens of its own, so that no clean-up hides a lock
// that was written too early.
func TestUnusableFenceCounter(t *testing.T) {
	for _, c := range []struct {
		name  string
		fill  []any // a command without the key, which comes second
		wants []string
	}{
		{"list", []any{"RPUSH", "x"}, []string{"list"}},
		{"hash", []any{"HSET", "x", "y"}, []string{"hash"}},
		{"word", []any{"SET", "seven"}, []string{"seven", "string"}},
		{"empty", []any{"SET", ""}, []string{`""`}},
		{"negative", []any{"SET", "-1"}, []string{`"-1"`}},
		{"fraction", []any{"SET", "1.5"}, []string{`"1.5"`}},
		{"exponent", []any{"SET", "1e3"}, []string{`"1e3"`}},
		{"used up", []any{"SET", "9007199254740991"}, []string{`"9007199254740991"`, "2^53"}},
		{"beyond", []any{"SET", "9007199254740993"}, []string{`"9007199254740993"`}},
		{"far beyond", []any{"SET", strings.Repeat("9", 400)}, []string{strings.Repeat("9", 64) + `"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			s.must(s.redis.Do(t.Context(), append([]any{c.fill[0], s.fence}, c.fill[1:]...)...).Err())
			before := s.redis.Dump(t.Context(), s.fence).Val()
			_, err := s.client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence, Token: "mine"})
			wantTrouble(t, err)
			for _, want := range append(c.wants, s.fence) {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			s.wantGone(s.key)
			if after := s.redis.Dump(t.Context(), s.fence).Val(); after != before || before == "" {
				t.Errorf("counter changed from %q to %q", before, after)
			}
		})
	}
}

func TestFenceCountersAreIndependent(t *testing.T) {
	s := newScene(t)
	s.next(Options{})
	other := s.obtain(long, &Options{FenceKey: s.fence + "2"})
	if other.FenceToken() != 1 {
		t.Errorf("fence = %d, want 1", other.FenceToken())
	}
}
