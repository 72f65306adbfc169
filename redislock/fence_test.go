package redislock

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// next obtains and releases the lock named key and returns its fencing token.
func (e *environment) next(opt Options) int64 {
	e.Helper()
	opt.FenceKey = e.fence
	lock := e.obtain(long, &opt)
	e.wantField(e.key, "fence", strconv.FormatInt(lock.FenceToken(), 10))
	e.must(lock.Release(e.Context()))
	return lock.FenceToken()
}

func TestFenceStartsAtOneAndCountsAcquisitions(t *testing.T) {
	e := onSharedServer(t)
	for want := int64(1); want <= 5; want++ {
		lock := e.obtain(long, &Options{FenceKey: e.fence})
		if lock.FenceToken() != want {
			t.Fatalf("fence = %d, want %d", lock.FenceToken(), want)
		}
		e.must(lock.Refresh(t.Context(), long, nil))
		if _, err := e.client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence}); err != ErrNotObtained {
			t.Fatal(err)
		}
		e.wantCounter(fmt.Sprint(want)) // a refresh and a refused attempt do not count
		e.must(lock.Release(t.Context()))
	}
}

func TestFenceCounterOutlivesTheLock(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	if ttl, err := e.redis.PTTL(t.Context(), e.fence).Result(); err != nil || ttl != -1 {
		t.Errorf("ttl of the counter = %v, %v, want none", ttl, err)
	}
	e.must(lock.Release(t.Context()))
	e.wantCounter("1")
}

func TestReobtainKeepsTheFence(t *testing.T) {
	e := onSharedServer(t)
	opt := Options{FenceKey: e.fence, Token: "mine"}
	first := e.obtain(long, &opt)
	for range 3 {
		if again := e.obtain(long, &opt); again.FenceToken() != first.FenceToken() {
			t.Errorf("fence = %d, want %d", again.FenceToken(), first.FenceToken())
		}
	}
	opt.FenceClock = true
	if again := e.obtain(long, &opt); again.FenceToken() != first.FenceToken() {
		t.Errorf("with a clock: fence = %d, want %d", again.FenceToken(), first.FenceToken())
	}
	e.wantCounter("1")
}

func TestReobtainMintsWhenTheFloorHasOvertaken(t *testing.T) {
	e := onSharedServer(t)
	for _, c := range []struct{ floor, want int64 }{{0, 1}, {1, 2}, {1, 2}, {10, 11}, {10, 11}, {11, 12}, {3, 12}} {
		lock := e.obtain(long, &Options{FenceKey: e.fence, Token: "mine", FenceFloor: c.floor})
		if lock.FenceToken() != c.want {
			t.Errorf("floor %d: fence = %d, want %d", c.floor, lock.FenceToken(), c.want)
		}
		e.wantField(e.key, "fence", fmt.Sprint(c.want))
	}
}

func TestReobtainMintsForALockThatHadNoFence(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, &Options{Token: "mine"})
	if lock := e.obtain(long, &Options{Token: "mine", FenceKey: e.fence}); lock.FenceToken() != 1 {
		t.Errorf("fence = %d, want 1", lock.FenceToken())
	}
}

func TestFenceFloorIsExceeded(t *testing.T) {
	e := onSharedServer(t)
	for _, c := range []struct{ floor, want int64 }{{41, 42}, {0, 43}, {43, 44}, {7, 45}} {
		if got := e.next(Options{FenceFloor: c.floor}); got != c.want {
			t.Errorf("floor %d: fence = %d, want %d", c.floor, got, c.want)
		}
	}
}

func TestFenceClockIsTheServersTime(t *testing.T) {
	e := onSharedServer(t)
	before, err := e.redis.Time(t.Context()).Result()
	e.must(err)
	got := e.next(Options{FenceClock: true})
	after, err := e.redis.Time(t.Context()).Result()
	e.must(err)
	if got < before.UnixMicro() || got > after.UnixMicro() {
		t.Errorf("fence = %d, want it between %d and %d", got, before.UnixMicro(), after.UnixMicro())
	}
	if next := e.next(Options{}); next != got+1 {
		t.Errorf("next fence = %d, want %d", next, got+1)
	}
	ahead := after.Add(time.Hour).UnixMicro()
	if next := e.next(Options{FenceClock: true, FenceFloor: ahead}); next != ahead+1 {
		t.Errorf("fence above a floor that is ahead of the clock = %d, want %d", next, ahead+1)
	}
	if next := e.next(Options{FenceClock: true}); next != ahead+2 {
		t.Errorf("fence of a counter that is ahead of the clock = %d, want %d", next, ahead+2)
	}
}

func TestA12_FenceAfterTheCounterWasLost(t *testing.T) {
	e := onOwnServer(t)
	lose := func() { e.must(e.redis.FlushAll(t.Context()).Err()) }
	for range 5 {
		e.next(Options{})
	}
	lose()
	if got := e.next(Options{}); got != 1 {
		t.Errorf("with neither floor nor clock: fence = %d, want the documented regress to 1", got)
	}
	lose()
	if got := e.next(Options{FenceFloor: 5}); got != 6 {
		t.Errorf("with a floor: fence = %d, want 6", got)
	}
	last := e.next(Options{FenceClock: true})
	for range 3 {
		lose()
		got := e.next(Options{FenceClock: true})
		if got <= last {
			t.Errorf("with a clock: fence %d after %d", got, last)
		}
		last = got
	}
}

func TestA12_FenceAfterARestartFromAnOlderSnapshot(t *testing.T) {
	e := onOwnServer(t, "--dbfilename", "old.rdb")
	e.next(Options{FenceClock: true})
	e.must(e.redis.Save(t.Context()).Err())
	last := e.next(Options{FenceClock: true})
	e.server.Kill()
	e.server.Restart()
	if got := e.next(Options{FenceClock: true}); got <= last {
		t.Errorf("fence %d after %d", got, last)
	}
}

func TestFenceKeepsAllDigits(t *testing.T) {
	e := onSharedServer(t)
	e.must(e.redis.Set(t.Context(), e.fence, int64(maxFence-3), 0).Err())
	for want := int64(maxFence - 2); want <= maxFence; want++ {
		if got := e.next(Options{}); got != want {
			t.Errorf("fence = %d, want %d", got, want)
		}
		e.wantCounter(strconv.FormatInt(want, 10))
	}
	e.must(e.redis.Del(t.Context(), e.fence).Err())
	if got := e.next(Options{FenceFloor: maxFence - 2}); got != maxFence-1 {
		t.Errorf("fence = %d, want %d", got, int64(maxFence-1))
	}
	var holder Holder
	opt := &Options{FenceKey: e.fence, OnHeld: func(h Holder) { holder = h }}
	e.obtain(long, opt)
	if _, err := e.client.Obtain(t.Context(), e.key, long, opt); err != ErrNotObtained || holder.FenceToken != maxFence {
		t.Errorf("%v, holder %+v", err, holder)
	}
}

// The token is explicit, so that no clean-up hides a lock that was written too early.
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
			e := onSharedServer(t)
			e.must(e.redis.Do(t.Context(), append([]any{c.fill[0], e.fence}, c.fill[1:]...)...).Err())
			before := e.redis.Dump(t.Context(), e.fence).Val()
			_, err := e.client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence, Token: "mine"})
			wantFailure(t, err)
			for _, want := range append(c.wants, e.fence) {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
			e.wantGone(e.key)
			if after := e.redis.Dump(t.Context(), e.fence).Val(); after != before || before == "" {
				t.Errorf("counter changed from %q to %q", before, after)
			}
		})
	}
}

func TestFenceCountersAreIndependent(t *testing.T) {
	e := onSharedServer(t)
	e.next(Options{})
	other := e.obtain(long, &Options{FenceKey: e.fence + "2"})
	if other.FenceToken() != 1 {
		t.Errorf("fence = %d, want 1", other.FenceToken())
	}
}
