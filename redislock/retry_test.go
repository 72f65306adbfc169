package redislock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// backoffs are the first backoffs of a strategy.
func backoffs(s RetryStrategy, n int) []time.Duration {
	list := make([]time.Duration, n)
	for i := range list {
		list[i] = s.NextBackoff()
	}
	return list
}

func TestStrategies(t *testing.T) {
	const ms = time.Millisecond
	for _, c := range []struct {
		name     string
		strategy RetryStrategy
		want     []time.Duration
	}{
		{"none", NoRetry(), []time.Duration{0, 0}},
		{"linear", LinearBackoff(7 * ms), []time.Duration{7 * ms, 7 * ms, 7 * ms}},
		{"exponential", ExponentialBackoff(5*ms, 20*ms), []time.Duration{5 * ms, 5 * ms, 8 * ms, 16 * ms, 20 * ms, 20 * ms}},
		{"exponential without end", ExponentialBackoff(0, 0), []time.Duration{2 * ms, 4 * ms, 8 * ms}},
		{"limited", LimitRetry(LinearBackoff(ms), 2), []time.Duration{ms, ms, 0, 0}},
		{"limited to none", LimitRetry(LinearBackoff(ms), 0), []time.Duration{0}},
		{"limited to less", LimitRetry(LinearBackoff(ms), -1), []time.Duration{0}},
		{"limited exponential", LimitRetry(ExponentialBackoff(0, 0), 2), []time.Duration{2 * ms, 4 * ms, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // the second time on a strategy that the first has not touched
				strategy := fork(c.strategy)
				for i, got := range backoffs(strategy, len(c.want)) {
					if got != c.want[i] {
						t.Errorf("backoff %d = %v, want %v", i, got, c.want[i])
					}
				}
			}
		})
	}
}

func TestExponentialBackoffNeverWraps(t *testing.T) {
	for i, got := range backoffs(ExponentialBackoff(0, 0), 200) {
		if got <= 0 {
			t.Fatalf("backoff %d = %v", i, got)
		}
	}
}

func TestWaiterPacesAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		wait := newWaiter(t.Context(), LinearBackoff(3*time.Second), 10*time.Second)
		defer wait.stop()
		for i := range 3 {
			if err := wait.next(); err != nil || time.Since(begin) != time.Duration(i+1)*3*time.Second {
				t.Errorf("wait %d: %v after %v", i, err, time.Since(begin))
			}
		}
		err := wait.next()
		wantErrors(t, err, ErrNotObtained, context.DeadlineExceeded)
		if waited := time.Since(begin); waited != 10*time.Second {
			t.Errorf("waited %v, want 10s", waited)
		}
	})
}

func TestWaiterPrefersTheCallersDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		wait := newWaiter(ctx, LinearBackoff(24*time.Hour), time.Second)
		defer wait.stop()
		wantErrors(t, wait.next(), ErrNotObtained, context.DeadlineExceeded)
		if waited := time.Since(begin); waited != time.Hour {
			t.Errorf("waited %v, want 1h", waited)
		}
	})
}

func TestObtainRetriesUntilTheLockIsFree(t *testing.T) {
	s := newScene(t)
	first := s.obtain(long, nil)
	var refused atomic.Int64
	lock, err := s.client.Obtain(t.Context(), s.key, long, &Options{
		RetryStrategy: LinearBackoff(time.Millisecond),
		OnHeld: func(Holder) {
			if refused.Add(1) == 3 {
				s.must(first.Release(t.Context()))
			}
		},
	})
	s.must(err)
	s.wantField(s.key, "token", lock.Token())
	if refused.Load() != 3 {
		t.Errorf("refused %d times, want 3", refused.Load())
	}
}

func TestObtainAfterTheLastRetryIsExactlyErrNotObtained(t *testing.T) {
	s := newScene(t)
	s.obtain(long, nil)
	held := 0
	opt := &Options{RetryStrategy: LimitRetry(LinearBackoff(time.Millisecond), 3), OnHeld: func(Holder) { held++ }}
	for range 2 { // a used strategy starts afresh
		held = 0
		if _, err := s.client.Obtain(t.Context(), s.key, long, opt); err != ErrNotObtained || held != 4 {
			t.Errorf("%v after %d attempts, want ErrNotObtained itself after 4", err, held)
		}
	}
}

func TestC9_WaitingWithoutADeadlineIsCappedByTheTTL(t *testing.T) {
	const ttl = 100 * time.Millisecond
	s := newScene(t)
	s.obtain(long, nil)
	begin := time.Now()
	_, err := s.client.Obtain(t.Context(), s.key, ttl, &Options{RetryStrategy: LinearBackoff(time.Millisecond)})
	wantErrors(t, err, ErrNotObtained, context.DeadlineExceeded)
	if waited := time.Since(begin); waited < ttl || waited > patience {
		t.Errorf("waited %v, want %v", waited, ttl)
	}
}

func TestC9_WaitingLongerThanTheTTL(t *testing.T) {
	const ttl, wait = 20 * time.Millisecond, 150 * time.Millisecond
	s := newScene(t)
	first := s.obtain(long, nil)
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	release := time.AfterFunc(wait, func() { _ = first.Release(context.Background()) })
	defer release.Stop()
	_, err := s.client.Obtain(ctx, s.key, ttl, &Options{RetryStrategy: LinearBackoff(time.Millisecond)})
	s.must(err)
	if waited := time.Since(begin); waited < wait {
		t.Errorf("waited %v, want at least %v", waited, wait)
	}
}

func TestC9_WaitingIsBoundedByTheContext(t *testing.T) {
	s := newScene(t)
	s.obtain(long, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := s.client.Obtain(ctx, s.key, long, &Options{RetryStrategy: LinearBackoff(time.Hour), OnHeld: func(Holder) { cancel() }})
	wantErrors(t, err, ErrNotObtained, context.Canceled)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v matches a deadline as well", err)
	}
}

// TestC9_TheDeadlinePassesDuringAnAttempt has the connection notice the deadline,
// perhaps before the context does.
func TestC9_TheDeadlinePassesDuringAnAttempt(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	s.obtain(long, nil)
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := client.Obtain(ctx, s.key, long, &Options{RetryStrategy: LinearBackoff(time.Millisecond), OnHeld: func(Holder) {
			scripts(proxy, faultproxy.Swallow)
		}})
		wantErrors(t, err, ErrNotObtained, context.DeadlineExceeded)
		cancel()
		proxy.Heal()
	}
}

func TestC9_TheDeadlinePassesDuringTheFirstAttempt(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	for range 10 {
		scripts(proxy, faultproxy.Swallow)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := client.Obtain(ctx, s.key, long, nil)
		wantTrouble(t, err)
		wantErrors(t, err, context.DeadlineExceeded)
		cancel()
		proxy.Heal()
	}
}

func TestC9_TransportErrorWhileWaiting(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	s.obtain(long, nil)
	_, err := client.Obtain(t.Context(), s.key, long, &Options{RetryStrategy: LinearBackoff(time.Millisecond), OnHeld: func(Holder) {
		scripts(proxy, faultproxy.CutBefore)
	}})
	wantTrouble(t, err)
}

func TestC10_OneOptionsValueForManyGoroutines(t *testing.T) {
	const workers, retries = 100, 3
	for name, strategy := range map[string]RetryStrategy{
		"linear":      LimitRetry(LinearBackoff(time.Millisecond), retries),
		"exponential": LimitRetry(ExponentialBackoff(time.Millisecond, 4*time.Millisecond), retries),
		"nested":      LimitRetry(LimitRetry(LinearBackoff(time.Millisecond), retries), workers),
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			var refused, obtained atomic.Int64
			opt := &Options{RetryStrategy: strategy, FenceKey: s.fence, OnHeld: func(Holder) { refused.Add(1) }}
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					lock, err := s.client.Obtain(t.Context(), s.key, long, opt)
					if err == nil {
						obtained.Add(1)
						err = lock.Refresh(t.Context(), long, opt)
					} else if err == ErrNotObtained {
						err = nil
					}
					if err != nil {
						t.Error(err)
					}
				})
			}
			all.Wait()
			if obtained.Load() != 1 || refused.Load() != (workers-1)*(retries+1) {
				t.Errorf("%d obtained and %d refused, want 1 and %d", obtained.Load(), refused.Load(), (workers-1)*(retries+1))
			}
		})
	}
}

// uncomparable is a strategy whose type has no ==.
type uncomparable struct{ backoffs []time.Duration }

func (u uncomparable) NextBackoff() time.Duration { return u.backoffs[0] }

func TestStrategyOfOnesOwn(t *testing.T) {
	s := newScene(t)
	first := s.obtain(long, nil)
	attempts := 0
	opt := &Options{RetryStrategy: uncomparable{[]time.Duration{time.Millisecond}}, OnHeld: func(Holder) {
		if attempts++; attempts == 3 {
			s.must(first.Release(t.Context()))
		}
	}}
	lock, err := s.client.Obtain(t.Context(), s.key, long, opt)
	s.must(err)
	s.must(lock.Refresh(t.Context(), long, opt))
	opt = &Options{RetryStrategy: LimitRetry(opt.RetryStrategy, 2)}
	if _, err := s.client.Obtain(t.Context(), s.key, long, opt); err != ErrNotObtained {
		t.Error(err)
	}
}
