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
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(lock.Refresh(t.Context(), time.Hour, nil))
	e.wantTTL(e.key, time.Hour)
	if left := lock.Remaining(); left > usable(time.Hour) || left < usable(time.Hour)-patience {
		t.Errorf("Remaining = %v, want little less than %v", left, usable(time.Hour))
	}
}

func TestRefreshShortens(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(time.Hour, nil)
	e.must(lock.Refresh(t.Context(), long, nil))
	e.wantTTL(e.key, long)
	if left := lock.Remaining(); left > usable(long) {
		t.Errorf("Remaining = %v, want at most %v", left, usable(long))
	}
}

// Redis applies a refresh and its reply is lost: the key now expires sooner than it
// would have.
func TestFailedRefreshThatShortensCountsFromTheSend(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, time.Hour, nil)
	e.must(err)
	proxy.NoReply(1)
	wantFailure(t, lock.Refresh(t.Context(), long, nil))
	e.wantTTL(e.key, long)
	if left := lock.Remaining(); left > usable(long) || left <= 0 {
		t.Errorf("Remaining = %v, want at most %v", left, usable(long))
	}
}

func TestFailedRefreshLeavesTheLeaseUnchanged(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	sent, span := lock.lease.sent, lock.lease.span
	for _, action := range []faultproxy.Action{faultproxy.CutBefore, faultproxy.CutAfter} {
		scripts(proxy, action)
		wantFailure(t, lock.Refresh(t.Context(), time.Hour, nil))
	}
	if lock.lease.sent != sent || lock.lease.span != span || lock.lease.ended || lock.lease.inFlight != 0 {
		t.Errorf("lease changed to %+v", &lock.lease)
	}
	e.must(lock.Refresh(t.Context(), time.Hour, nil))
}

// neverAsked is the strategy of a call that must not retry.
type neverAsked struct{ t *testing.T }

func (n neverAsked) NextBackoff() time.Duration {
	n.t.Error("the call wants to retry")
	return 0
}

func TestRefreshOfWhatIsNotOursIsFinal(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage func(*environment) error
	}{
		{"deleted", func(e *environment) error { return e.redis.Del(e.Context(), e.key).Err() }},
		{"somebody else's", func(e *environment) error { return e.redis.HSet(e.Context(), e.key, "token", "other").Err() }},
		{"without token", func(e *environment) error { return e.redis.HDel(e.Context(), e.key, "token").Err() }},
		{"string", func(e *environment) error { return e.redis.Set(e.Context(), e.key, "x", long).Err() }},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := onSharedServer(t)
			proxy, client := e.proxied()
			lock, err := client.Obtain(t.Context(), e.key, long, nil)
			e.must(err)
			e.must(c.damage(e))
			before, ttl := e.redis.Dump(t.Context(), e.key).Val(), e.redis.PTTL(t.Context(), e.key).Val()
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
			if after := e.redis.Dump(t.Context(), e.key).Val(); after != before || e.redis.PTTL(t.Context(), e.key).Val() > ttl {
				t.Errorf("key changed from %q to %q", before, after)
			}
		})
	}
}

func TestRefreshGivesBackALostTTL(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(e.redis.Persist(t.Context(), e.key).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl >= 0 {
		t.Errorf("TTL = %v, %v, want a negative one", ttl, err)
	}
	e.must(lock.Refresh(t.Context(), long, nil))
	e.wantTTL(e.key, long)
}

func TestRefreshAfterTheLeaseRanOutSendsNothing(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
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

// The machine sleeps past the end of the lease while a refresh is on its way.
func TestLateSuccessDoesNotRevive(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, time.Hour, nil)
	e.must(err)
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
	e.wantTTL(e.key, 2*time.Hour) // Redis has applied it
}

func TestRefreshRetriesErrorsAsTheStrategySays(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	opt := &Options{RetryStrategy: LimitRetry(LinearBackoff(time.Millisecond), 2)}
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutAfter)
	e.must(lock.Refresh(t.Context(), time.Hour, opt))
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutBefore, faultproxy.CutBefore)
	wantFailure(t, lock.Refresh(t.Context(), time.Hour, opt))
	e.wantTTL(e.key, time.Hour)
}

func TestRefreshRetriesNoLongerThanTheLease(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, 200*time.Millisecond, nil)
	e.must(err)
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
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	proxy.Hole()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for _, strategy := range []RetryStrategy{nil, LinearBackoff(time.Millisecond)} {
		err = lock.Refresh(ctx, long, &Options{RetryStrategy: strategy})
		wantFailure(t, err)
		wantErrors(t, err, context.DeadlineExceeded)
	}
	if errors.Is(err, context.Canceled) || lock.Remaining() <= 0 {
		t.Errorf("%v, Remaining = %v", err, lock.Remaining())
	}
}

func TestTTLAsksRedis(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(e.redis.PExpire(t.Context(), e.key, time.Hour).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl > time.Hour || ttl < time.Hour-patience {
		t.Errorf("TTL = %v, %v, want %v", ttl, err, time.Hour)
	}
	e.must(e.redis.Del(t.Context(), e.key).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl != 0 {
		t.Errorf("TTL of a lost lock = %v, %v, want 0", ttl, err)
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v after Redis said that the lock is lost", left)
	}
}
