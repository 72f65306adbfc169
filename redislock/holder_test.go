package redislock

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// refused tries to obtain the lock named key, which has to fail, and returns what
// Obtain says about the holder.
func (e *environment) refused() Holder {
	e.Helper()
	var holders []Holder
	opt := &Options{FenceKey: e.fence, OnHeld: func(h Holder) { holders = append(holders, h) }}
	lock, err := e.client.Obtain(e.Context(), e.key, long, opt)
	if lock != nil || err != ErrNotObtained || len(holders) != 1 {
		e.Fatalf("Obtain = %v, %v, holders %+v", lock, err, holders)
	}
	return holders[0]
}

func TestHolderSaysWhoHoldsTheLock(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{Metadata: "me", FenceKey: e.fence, FenceFloor: 41})
	got := e.refused()
	if got.TTL > long || got.TTL < long-patience {
		t.Errorf("ttl = %v, want %v", got.TTL, long)
	}
	got.TTL = 0
	if want := (Holder{Metadata: "me", FenceToken: 42}); got != want {
		t.Errorf("holder = %+v, want %+v", got, want)
	}
	if text := fmt.Sprintf("%#v", got); strings.Contains(text, lock.Token()) {
		t.Errorf("holder %s shows the ownership token", text)
	}
}

func TestHolderOfABareLock(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, nil)
	if got := e.refused(); got.Metadata != "" || got.FenceToken != 0 || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
}

func TestHolderWithoutTTL(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, &Options{Metadata: "me"})
	e.must(e.redis.Persist(t.Context(), e.key).Err())
	if got := e.refused(); got.TTL >= 0 || got.Foreign || got.Metadata != "me" {
		t.Errorf("holder = %+v, want a negative ttl", got)
	}
	if ttl := e.redis.PTTL(t.Context(), e.key).Val(); ttl != -1 {
		t.Errorf("the refused attempt gave the key a ttl of %v", ttl)
	}
}

// A lock may have been written by hand, with nothing but a token.
func TestHolderWithOnlyAToken(t *testing.T) {
	e := onSharedServer(t)
	e.must(e.redis.HSet(t.Context(), e.key, "token", "x", "fence", "no number").Err())
	if got := e.refused(); got.FenceToken != 0 || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
	e.must(e.redis.HDel(t.Context(), e.key, "fence").Err())
	if got := e.refused(); got.Metadata != "" || got.FenceToken != 0 || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
}

func TestB10_ForeignKeyIsNeverOverwritten(t *testing.T) {
	for _, c := range []struct {
		kind string
		fill []any // a command without the key, which comes second
	}{
		{"string", []any{"SET", "token"}},
		{"list", []any{"RPUSH", "token"}},
		{"set", []any{"SADD", "token"}},
		{"zset", []any{"ZADD", 1, "token"}},
		{"stream", []any{"XADD", "*", "token", "x"}},
		{"hash", []any{"HSET", "tok", "x", "metadata", "me"}},
	} {
		for _, expires := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s expires=%t", c.kind, expires), func(t *testing.T) {
				e := onSharedServer(t)
				e.must(e.redis.Do(t.Context(), append([]any{c.fill[0], e.key}, c.fill[1:]...)...).Err())
				want := Holder{Metadata: c.kind, Foreign: true, TTL: -time.Millisecond}
				if expires {
					e.must(e.redis.PExpire(t.Context(), e.key, long).Err())
					want.TTL = long
				}
				before := e.redis.Dump(t.Context(), e.key).Val()
				got := e.refused()
				if expires && got.TTL > 0 && got.TTL < long {
					got.TTL = long
				}
				if got != want {
					t.Errorf("holder = %+v, want %+v", got, want)
				}
				if after := e.redis.Dump(t.Context(), e.key).Val(); after != before || before == "" {
					t.Errorf("key changed from %q to %q", before, after)
				}
				if ttl := e.redis.PTTL(t.Context(), e.key).Val(); expires != (ttl > 0) {
					t.Errorf("ttl = %v", ttl)
				}
				e.wantCounter("")
			})
		}
	}
}

// A fencing token that no script can have minted is ignored: as a floor it would keep
// everybody from getting another one.
func TestImpossibleFenceOfAHolderIsNotBelieved(t *testing.T) {
	for _, fence := range []string{"9223372036854775807", "9007199254740992", "-1", "x", "99999999999999999999"} {
		holder, err := refusal([]any{"held", "", fence, int64(1)}, "")
		if err != nil || holder.FenceToken != 0 {
			t.Errorf("%s: %+v, %v", fence, holder, err)
		}
	}
}
