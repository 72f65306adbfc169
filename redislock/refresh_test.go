package redislock

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/internal/faultproxy"
)

func TestRefreshExtends(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(lock.Refresh(t.Context(), time.Hour, nil))
	s.wantTTL(s.key, time.Hour)
	if left := lock.Remaining(); left > usable(time.Hour) || left < usable(time.Hour)-patience {
		t.Errorf("Remaining = %v, want little less than %v", left, usable(time.Hour))
	}
}

func TestRefreshShortens(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(time.Hour, nil)
	s.must(lock.Refresh(t.Context(), long, nil))
	s.wantTTL(s.key, long)
	if left := lock.Remaining(); left > usable(long) {
		t.Errorf("Remaining = %v, want at most %v", left, usable(long))
	}
}

// TestFailedRefreshThatShortensCountsFromTheSend has a refresh applied whose reply is
// lost: the key now goes sooner than the lease knew.
func TestFailedRefreshThatShortensCountsFromTheSend(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, time.Hour, nil)
	s.must(err)
	proxy.NoReply(1)
	wantTrouble(t, lock.Refresh(t.Context(), long, nil))
	s.wantTTL(s.key, long)
	if left := lock.Remaining(); left > usable(long) || left <= 0 {
		t.Errorf("Remaining = %v, want at most %v", left, usable(long))
	}
}

func TestFailedRefreshLeavesTheLeaseUnchanged(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	sent, span := lock.lease.sent, lock.lease.span
	for _, action := range []faultproxy.Action{faultproxy.CutBefore, faultproxy.CutAfter} {
		scripts(proxy, action)
		wantTrouble(t, lock.Refresh(t.Context(), time.Hour, nil))
	}
	if lock.lease.sent != sent || lock.lease.span != span || lock.lease.ended || lock.lease.inFlight != 0 {
		t.Errorf("lease changed to %+v", &lock.lease)
	}
	s.must(lock.Refresh(t.Context(), time.Hour, nil))
}

// neverAsked is the strategy of a call that has nothing to retry.
type neverAsked struct{ t *testing.T }

func (n neverAsked) NextBackoff() time.Duration {
	n.t.Error("there was a thought of a retry")
	return 0
}

func TestRefreshOfWhatIsNotOursIsFinal(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*scene) error
	}{
		{"deleted", func(s *scene) error { return s.redis.Del(s.Context(), s.key).Err() }},
		{"somebody else's", func(s *scene) error { return s.redis.HSet(s.Context(), s.key, "token", "other").Err() }},
		{"without token", func(s *scene) error { return s.redis.HDel(s.Context(), s.key, "token").Err() }},
		{"string", func(s *scene) error { return s.redis.Set(s.Context(), s.key, "x", long).Err() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene(t)
			proxy, client := s.proxied()
			lock, err := client.Obtain(t.Context(), s.key, long, nil)
			s.must(err)
			s.must(c.damage(s))
			before, ttl := s.redis.Dump(t.Context(), s.key).Val(), s.redis.PTTL(t.Context(), s.key).Val()
			proxy.ResetCommands()
			opt := &Options{RetryStrategy: neverAsked{t}}
			if err := lock.Refresh(t.Context(), time.Hour, opt); err != ErrNotObtained {
				t.Errorf("Refresh: %v, want ErrNotObtained itself", err)
			}
			if err := lock.Refresh(t.Context(), time.Hour, nil); err != ErrNotObtained {
				t.Errorf("again: %v", err)
			}
			if n := len(proxy.Commands()); n != 1 {
				t.Errorf("%d commands, want 1: a lost lock is final", n)
			}
			if left := lock.Remaining(); left > 0 {
				t.Errorf("Remaining = %v", left)
			}
			if after := s.redis.Dump(t.Context(), s.key).Val(); after != before || s.redis.PTTL(t.Context(), s.key).Val() > ttl {
				t.Errorf("key changed from %q to %q", before, after)
			}
		})
	}
}

func TestRefreshGivesBackALostTTL(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(s.redis.Persist(t.Context(), s.key).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl >= 0 {
		t.Errorf("TTL = %v, %v, want a negative one", ttl, err)
	}
	s.must(lock.Refresh(t.Context(), long, nil))
	s.wantTTL(s.key, long)
}

func TestRefreshAfterTheLeaseRanOutSendsNothing(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	client.now = func() clock.Instant { return clock.Now().Suspended(long) }
	proxy.ResetCommands()
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	client.now = clock.Now
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("with the clock right again: %v", err)
	}
	if n := len(proxy.Commands()); n != 0 {
		t.Errorf("%d commands", n)
	}
}

// TestLateSuccessDoesNotRevive has the machine sleep past the lease while the refresh,
// which Redis accepted, is under way.
func TestLateSuccessDoesNotRevive(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, time.Hour, nil)
	s.must(err)
	proxy.OnCommand(func(faultproxy.Command) faultproxy.Action {
		client.now = func() clock.Instant { return clock.Now().Suspended(time.Hour) }
		return faultproxy.Pass
	})
	if err := lock.Refresh(t.Context(), 2*time.Hour, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v, want ErrNotObtained", err)
	}
	client.now = clock.Now
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
	s.wantTTL(s.key, 2*time.Hour) // Redis did accept it
}

func TestRefreshRetriesErrorsAsTheStrategySays(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	opt := &Options{RetryStrategy: LimitRetry(LinearBackoff(time.Millisecond), 2)}
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutAfter)
	s.must(lock.Refresh(t.Context(), time.Hour, opt))
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutBefore, faultproxy.CutBefore)
	wantTrouble(t, lock.Refresh(t.Context(), time.Hour, opt))
	s.wantTTL(s.key, time.Hour)
}

func TestRefreshRetriesNoLongerThanTheLease(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, 200*time.Millisecond, nil)
	s.must(err)
	proxy.OnCommand(func(faultproxy.Command) faultproxy.Action { return faultproxy.CutBefore })
	begin := time.Now()
	err = lock.Refresh(t.Context(), long, &Options{RetryStrategy: LinearBackoff(5 * time.Millisecond)})
	if err == nil || time.Since(begin) > patience {
		t.Errorf("Refresh: %v after %v", err, time.Since(begin))
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
}

func TestRefreshEndsWithItsContext(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	proxy.Hole()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, strategy := range []RetryStrategy{nil, LinearBackoff(time.Millisecond)} {
		err = lock.Refresh(ctx, long, &Options{RetryStrategy: strategy})
		wantTrouble(t, err)
		wantErrors(t, err, context.DeadlineExceeded)
	}
	if errors.Is(err, context.Canceled) || lock.Remaining() <= 0 {
		t.Errorf("%v, Remaining = %v", err, lock.Remaining())
	}
}

func TestTTLAsksRedis(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(s.redis.PExpire(t.Context(), s.key, time.Hour).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl > time.Hour || ttl < time.Hour-patience {
		t.Errorf("TTL = %v, %v, want %v", ttl, err, time.Hour)
	}
	s.must(s.redis.Del(t.Context(), s.key).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl != 0 {
		t.Errorf("TTL of a lost lock = %v, %v, want 0", ttl, err)
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v after Redis said that the lock is lost", left)
	}
}
