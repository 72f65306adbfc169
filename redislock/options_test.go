package redislock

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestInvalidTTLIsRefusedBeforeAnyIO(t *testing.T) {
	lock := &Lock{client: New(unused{}), keys: []string{"key"}}
	for _, ttl := range []time.Duration{0, -1, -time.Second, 1, 999 * time.Microsecond, maxTTL + 1, math.MaxInt64, math.MinInt64} {
		_, err := New(unused{}).Obtain(t.Context(), "key", ttl, nil)
		wantErrors(t, err, ErrInvalidTTL)
		_, err = New(unused{}).ObtainMulti(t.Context(), []string{"a", "b"}, ttl, nil)
		wantErrors(t, err, ErrInvalidTTL)
		wantErrors(t, lock.Refresh(t.Context(), ttl, nil), ErrInvalidTTL)
	}
}

func TestTTLIsSentInWholeMillisecondsRoundedUp(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock := e.obtain(long, &Options{Token: "mine"})
	lock.client = client
	for _, c := range []struct {
		ttl  time.Duration
		want int64
	}{
		{maxTTL, 100 * 365 * 24 * 3600 * 1000},
		{time.Second, 1000},
		{time.Second + 1, 1001},
		{1500 * time.Microsecond, 2},
		{time.Millisecond + 1, 2},
		{time.Millisecond, 1},
	} {
		proxy.ResetCommands()
		_, err := client.Obtain(t.Context(), e.key, c.ttl, &Options{Token: "mine"})
		e.must(err)
		_ = lock.Refresh(t.Context(), c.ttl, nil) // after 1 ms it is too late
		sent := calls(proxy)
		if got := sent[0].Args[5]; len(sent) > 0 && got != fmt.Sprint(c.want) {
			t.Errorf("Obtain for %v sent %s ms, want %d", c.ttl, got, c.want)
		}
		if len(sent) > 1 && sent[1].Args[4] != fmt.Sprint(c.want) {
			t.Errorf("Refresh for %v sent %s ms, want %d", c.ttl, sent[1].Args[4], c.want)
		}
		lock.lease = lease{sent: client.now(), span: long}
	}
}

func TestRedisAcceptsTheLongestTTL(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(maxTTL, nil)
	e.wantTTL(e.key, maxTTL)
	e.must(lock.Refresh(t.Context(), maxTTL, nil))
	e.wantTTL(e.key, maxTTL)
	if left := lock.Remaining(); left > usable(maxTTL) || left < usable(maxTTL)-patience {
		t.Errorf("Remaining = %v", left)
	}
}

func TestShortestTTLRunsOut(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(time.Millisecond, nil)
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v, want none after the margin", left)
	}
	e.eventually("the key to go", func() bool { return e.redis.Exists(t.Context(), e.key).Val() == 0 })
}

func TestInvalidOptionsAreRefusedBeforeAnyIO(t *testing.T) {
	for _, c := range []struct {
		name string
		keys []string
		opt  Options
		want string
	}{
		{"no keys", nil, Options{}, "need at least one"},
		{"empty key", []string{"a", ""}, Options{}, "none may be empty"},
		{"negative floor", []string{"a"}, Options{FenceKey: "f", FenceFloor: -1}, "FenceFloor -1"},
		{"floor too high", []string{"a"}, Options{FenceKey: "f", FenceFloor: maxFence}, "FenceFloor 9007199254740991"},
		{"floor far too high", []string{"a"}, Options{FenceKey: "f", FenceFloor: math.MaxInt64}, "FenceFloor 9223372036854775807"},
		{"floor without counter", []string{"a"}, Options{FenceFloor: 1}, "need a FenceKey"},
		{"clock without counter", []string{"a"}, Options{FenceClock: true}, "need a FenceKey"},
		{"counter is a lock", []string{"a", "f"}, Options{FenceKey: "f"}, `FenceKey "f" is a lock`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(unused{}).ObtainMulti(t.Context(), c.keys, time.Second, &c.opt)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error = %v, want %q in it", err, c.want)
			}
			wantFailure(t, err)
		})
	}
}

func TestAllViolationsAreReportedAtOnce(t *testing.T) {
	_, err := New(nil).Obtain(t.Context(), "", 0, &Options{FenceFloor: -1})
	wantErrors(t, err, ErrUnsupportedClient, ErrInvalidTTL)
	for _, want := range []string{"keys", "FenceFloor -1 is not", "need a FenceKey"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
}

func TestOptionsAreOnlyRead(t *testing.T) {
	e := onSharedServer(t)
	opt := Options{Metadata: "me", FenceKey: e.fence}
	before := fmt.Sprintf("%+v", opt)
	lock := e.obtain(long, &opt)
	e.must(lock.Refresh(t.Context(), long, &opt))
	if now := fmt.Sprintf("%+v", opt); now != before {
		t.Errorf("options changed from %s to %s", before, now)
	}
	if got := fmt.Sprintf("%+v", *noOptions); got != fmt.Sprintf("%+v", Options{}) {
		t.Errorf("the default options changed to %+v", noOptions)
	}
}
