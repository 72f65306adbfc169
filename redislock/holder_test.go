package redislock

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// refused is what Obtain tells about the holder of the scene's lock, which it must not
// get.
func (s *scene) refused() Holder {
	s.Helper()
	var holders []Holder
	opt := &Options{FenceKey: s.fence, OnHeld: func(h Holder) { holders = append(holders, h) }}
	lock, err := s.client.Obtain(s.Context(), s.key, long, opt)
	if lock != nil || err != ErrNotObtained || len(holders) != 1 {
		s.Fatalf("Obtain = %v, %v, holders %+v", lock, err, holders)
	}
	return holders[0]
}

func TestHolderTellsWhoHoldsTheLock(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, &Options{Metadata: "me", FenceKey: s.fence, FenceFloor: 41})
	got := s.refused()
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
	s := newScene(t)
	s.obtain(long, nil)
	if got := s.refused(); got.Metadata != "" || got.FenceToken != 0 || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
}

func TestHolderWithoutTTL(t *testing.T) {
	s := newScene(t)
	s.obtain(long, &Options{Metadata: "me"})
	s.must(s.redis.Persist(t.Context(), s.key).Err())
	if got := s.refused(); got.TTL >= 0 || got.Foreign || got.Metadata != "me" {
		t.Errorf("holder = %+v, want a negative ttl", got)
	}
	if ttl := s.redis.PTTL(t.Context(), s.key).Val(); ttl != -1 {
		t.Errorf("the refused attempt gave the key a ttl of %v", ttl)
	}
}

// TestHolderWithOnlyAToken is a lock written by hand, with nothing beside what counts.
func TestHolderWithOnlyAToken(t *testing.T) {
	s := newScene(t)
	s.must(s.redis.HSet(t.Context(), s.key, "token", "x", "fence", "no number").Err())
	if got := s.refused(); got.FenceToken != 0 || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
	s.must(s.redis.HDel(t.Context(), s.key, "fence").Err())
	if got := s.refused(); got.Metadata != "" || got.FenceToken != 0 || got.Foreign {
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
				s := newScene(t)
				s.must(s.redis.Do(t.Context(), append([]any{c.fill[0], s.key}, c.fill[1:]...)...).Err())
				want := Holder{Metadata: c.kind, Foreign: true, TTL: -time.Millisecond}
				if expires {
					s.must(s.redis.PExpire(t.Context(), s.key, long).Err())
					want.TTL = long
				}
				before := s.redis.Dump(t.Context(), s.key).Val()
				got := s.refused()
				if expires && got.TTL > 0 && got.TTL < long {
					got.TTL = long
				}
				if got != want {
					t.Errorf("holder = %+v, want %+v", got, want)
				}
				if after := s.redis.Dump(t.Context(), s.key).Val(); after != before || before == "" {
					t.Errorf("key changed from %q to %q", before, after)
				}
				if ttl := s.redis.PTTL(t.Context(), s.key).Val(); expires != (ttl > 0) {
					t.Errorf("ttl = %v", ttl)
				}
				s.wantCounter("")
			})
		}
	}
}

// A value that no script has minted is not believed: as a floor for the next token it
// would keep everybody from obtaining one.
func TestImpossibleFenceOfAHolderIsNotBelieved(t *testing.T) {
	for _, fence := range []string{"9223372036854775807", "9007199254740992", "-1", "x", "99999999999999999999"} {
		holder, err := refusal([]any{"held", "", fence, int64(1)}, "")
		if err != nil || holder.FenceToken != 0 {
			t.Errorf("%s: %+v, %v", fence, holder, err)
		}
	}
}
