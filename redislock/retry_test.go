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

// backoffs returns the first n backoffs of a strategy.
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
		{"exponential", ExponentialBackoff(5*ms, 20*ms), []time.Duration{5 * ms, 8 * ms, 16 * ms, 20 * ms, 20 * ms}},
		{"exponential without end", ExponentialBackoff(0, 0), []time.Duration{4 * ms, 8 * ms, 16 * ms}},
		{"limited", LimitRetry(LinearBackoff(ms), 2), []time.Duration{ms, ms, 0, 0}},
		{"limited to none", LimitRetry(LinearBackoff(ms), 0), []time.Duration{0}},
		{"limited to less", LimitRetry(LinearBackoff(ms), -1), []time.Duration{0}},
		{"limited exponential", LimitRetry(ExponentialBackoff(0, 0), 2), []time.Duration{4 * ms, 8 * ms, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for range 2 { // fork returns a fresh strategy each time
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

// The sequences were recorded from github.com/bsm/redislock v0.9.4.
func TestF_BackoffSequenceIsThatOfBsmRedislock(t *testing.T) {
	for _, c := range []struct {
		min, max time.Duration
		want     []int64 // milliseconds
	}{
		{0, 0, []int64{4, 8, 16, 32, 64, 128, 256, 512, 1024}},
		{16 * time.Millisecond, 0, []int64{16, 16, 16, 32, 64}},
		{0, 100 * time.Millisecond, []int64{4, 8, 16, 32, 64, 100, 100}},
		{10 * time.Millisecond, 50 * time.Millisecond, []int64{10, 10, 16, 32, 50, 50}},
		// A min above max: min until the sequence reaches it, then max.
		{20 * time.Millisecond, 10 * time.Millisecond, []int64{20, 20, 20, 10, 10}},
	} {
		strategy := ExponentialBackoff(c.min, c.max)
		for i, want := range c.want {
			if got := strategy.NextBackoff().Milliseconds(); got != want {
				t.Errorf("min %v, max %v: wait before retry %d = %d ms, want %d ms", c.min, c.max, i+1, got, want)
			}
		}
	}
	late := backoffs(ExponentialBackoff(0, 0), 40)
	for retry, want := range map[int]time.Duration{24: 1 << 25, 25: 1 << 26, 26: 1 << 26, 40: 1 << 26} {
		if got := late[retry-1]; got != want*time.Millisecond {
			t.Errorf("wait before retry %d = %v, want %v", retry, got, want*time.Millisecond)
		}
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
	e := onSharedServer(t)
	first := e.obtain(long, nil)
	var refused atomic.Int64
	lock, err := e.client.Obtain(t.Context(), e.key, long, &Options{
		RetryStrategy: LinearBackoff(time.Millisecond),
		OnHeld: func(Holder) {
			if refused.Add(1) == 3 {
				e.must(first.Release(t.Context()))
			}
		},
	})
	e.must(err)
	e.wantField(e.key, "token", lock.Token())
	if refused.Load() != 3 {
		t.Errorf("refused %d times, want 3", refused.Load())
	}
}

func TestObtainAfterTheLastRetryIsExactlyErrNotObtained(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, nil)
	held := 0
	opt := &Options{RetryStrategy: LimitRetry(LinearBackoff(time.Millisecond), 3), OnHeld: func(Holder) { held++ }}
	for range 2 { // the strategy starts afresh
		held = 0
		if _, err := e.client.Obtain(t.Context(), e.key, long, opt); err != ErrNotObtained || held != 4 {
			t.Errorf("%v after %d attempts, want ErrNotObtained itself after 4", err, held)
		}
	}
}

func TestC9_WaitingWithoutADeadlineIsCappedByTheTTL(t *testing.T) {
	const ttl = 100 * time.Millisecond
	e := onSharedServer(t)
	e.obtain(long, nil)
	begin := time.Now()
	_, err := e.client.Obtain(t.Context(), e.key, ttl, &Options{RetryStrategy: LinearBackoff(time.Millisecond)})
	wantErrors(t, err, ErrNotObtained, context.DeadlineExceeded)
	if waited := time.Since(begin); waited < ttl || waited > patience {
		t.Errorf("waited %v, want %v", waited, ttl)
	}
}

func TestC9_WaitingLongerThanTheTTL(t *testing.T) {
	const ttl, wait = 20 * time.Millisecond, 150 * time.Millisecond
	e := onSharedServer(t)
	first := e.obtain(long, nil)
	begin := time.Now()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	release := time.AfterFunc(wait, func() { _ = first.Release(context.Background()) })
	defer release.Stop()
	_, err := e.client.Obtain(ctx, e.key, ttl, &Options{RetryStrategy: LinearBackoff(time.Millisecond)})
	e.must(err)
	if waited := time.Since(begin); waited < wait {
		t.Errorf("waited %v, want at least %v", waited, wait)
	}
}

func TestC9_WaitingIsBoundedByTheContext(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, nil)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := e.client.Obtain(ctx, e.key, long, &Options{RetryStrategy: LinearBackoff(time.Hour), OnHeld: func(Holder) { cancel() }})
	wantErrors(t, err, ErrNotObtained, context.Canceled)
	if errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error = %v matches a deadline as well", err)
	}
}

// The connection notices the deadline, perhaps before the context does.
func TestC9_TheDeadlinePassesDuringAnAttempt(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	e.obtain(long, nil)
	for range 10 {
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := client.Obtain(ctx, e.key, long, &Options{RetryStrategy: LinearBackoff(time.Millisecond), OnHeld: func(Holder) {
			scripts(proxy, faultproxy.Swallow)
		}})
		wantErrors(t, err, ErrNotObtained, context.DeadlineExceeded)
		cancel()
		proxy.Heal()
	}
}

func TestC9_TheDeadlinePassesDuringTheFirstAttempt(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	for range 10 {
		scripts(proxy, faultproxy.Swallow)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		_, err := client.Obtain(ctx, e.key, long, nil)
		wantFailure(t, err)
		wantErrors(t, err, context.DeadlineExceeded)
		cancel()
		proxy.Heal()
	}
}

func TestC9_TransportErrorWhileWaiting(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	e.obtain(long, nil)
	_, err := client.Obtain(t.Context(), e.key, long, &Options{RetryStrategy: LinearBackoff(time.Millisecond), OnHeld: func(Holder) {
		scripts(proxy, faultproxy.CutBefore)
	}})
	wantFailure(t, err)
}

func TestC10_OneOptionsValueForManyGoroutines(t *testing.T) {
	const workers, retries = 100, 3
	for name, strategy := range map[string]RetryStrategy{
		"linear":      LimitRetry(LinearBackoff(time.Millisecond), retries),
		"exponential": LimitRetry(ExponentialBackoff(time.Millisecond, 4*time.Millisecond), retries),
		"nested":      LimitRetry(LimitRetry(LinearBackoff(time.Millisecond), retries), workers),
	} {
		t.Run(name, func(t *testing.T) {
			e := onSharedServer(t)
			var refused, obtained atomic.Int64
			opt := &Options{RetryStrategy: strategy, FenceKey: e.fence, OnHeld: func(Holder) { refused.Add(1) }}
			var all sync.WaitGroup
			for range workers {
				all.Go(func() {
					lock, err := e.client.Obtain(t.Context(), e.key, long, opt)
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
	e := onSharedServer(t)
	first := e.obtain(long, nil)
	attempts := 0
	opt := &Options{RetryStrategy: uncomparable{[]time.Duration{time.Millisecond}}, OnHeld: func(Holder) {
		if attempts++; attempts == 3 {
			e.must(first.Release(t.Context()))
		}
	}}
	lock, err := e.client.Obtain(t.Context(), e.key, long, opt)
	e.must(err)
	e.must(lock.Refresh(t.Context(), long, opt))
	opt = &Options{RetryStrategy: LimitRetry(opt.RetryStrategy, 2)}
	if _, err := e.client.Obtain(t.Context(), e.key, long, opt); err != ErrNotObtained {
		t.Error(err)
	}
}
