package redislock

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/internal/faultproxy"
)

func TestReleaseDeletesAndEndsTheLease(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("second Release: %v", err)
	}
	e.wantGone(e.key)
}

func TestReleaseWorksWithACancelledContext(t *testing.T) {
	e := onSharedServer(t)
	e.must(e.obtain(long, nil).Release(canceled()))
	e.wantGone(e.key)
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
	defer cancel()
	e.must(e.obtain(long, nil).Release(past))
	e.wantGone(e.key)
}

func TestReleaseIsBounded(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, time.Second, nil)
	e.must(err)
	proxy.Hole()
	begin := time.Now()
	wantFailure(t, lock.Release(t.Context()))
	if took := time.Since(begin); took > maxDetached+patience/2 {
		t.Errorf("Release took %v", took)
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v though Redis may have deleted the lock", left)
	}
}

func TestReleaseOfWhatRanOut(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(20*time.Millisecond, nil)
	e.eventually("the lock to run out", func() bool {
		return e.redis.Exists(t.Context(), e.key).Val() == 0 && lock.Remaining() <= 0
	})
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
}

// After the machine was asleep, Release still deletes the lock, so that the next holder
// need not wait.
func TestReleaseDeletesOursThoughTheLeaseEnded(t *testing.T) {
	e := onSharedServer(t)
	client := New(e.app)
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	client.now = func() clock.Instant { return clock.Now().Suspended(time.Hour) }
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

func TestC11_ReleaseReplyLost(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied(resending)
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	proxy.ResetCommands()
	proxy.NoReply(1)
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or no reply was lost", n)
	}
}

func TestC11_ReleaseRepeatedByTheCaller(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	proxy.NoReply(1)
	wantFailure(t, lock.Release(t.Context()))
	e.wantGone(e.key)
	e.must(lock.Release(t.Context()))
}

func TestC11_TheftIsReported(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(e.redis.Del(t.Context(), e.key).Err())
	thief := e.obtain(long, nil)
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	e.wantField(e.key, "token", thief.Token())
	e.wantTTL(e.key, long)
}

func TestC11_LossThatWasSeenIsReported(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.must(e.redis.Del(t.Context(), e.key).Err())
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
}

func TestB8_ReleaseFailsTwice(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutBefore)
	wantFailure(t, lock.Release(t.Context()))
	wantFailure(t, lock.Release(t.Context()))
	e.wantField(e.key, "token", lock.Token())
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

func TestB8_SomebodyElseHoldsItByTheThirdRelease(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, nil)
	e.must(err)
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutAfter)
	wantFailure(t, lock.Release(t.Context()))
	wantFailure(t, lock.Release(t.Context()))
	other := e.obtain(long, nil)
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	e.wantField(e.key, "token", other.Token())
}

func TestConcurrentReleases(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	var released atomic.Int64
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			switch err := lock.Release(t.Context()); err {
			case nil:
				released.Add(1)
			case ErrLockNotHeld:
			default:
				t.Error(err)
			}
			lock.Remaining()
			_ = lock.Refresh(t.Context(), long, nil)
		})
	}
	all.Wait()
	// Releases that overlap look like repetitions of one, so more than one may succeed.
	if released.Load() < 1 {
		t.Error("no Release succeeded")
	}
	e.wantGone(e.key)
}

// A key that was a lock of ours has become something else.
func TestForeignKeyIsNotReleased(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{Token: "mine"})
	e.must(e.redis.Set(t.Context(), e.key, "mine", 0).Err())
	if ttl, err := lock.TTL(t.Context()); ttl != 0 || err != nil {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	if got := e.redis.Get(t.Context(), e.key).Val(); got != "mine" {
		t.Errorf("key holds %q", got)
	}
}

// stuck is a client that waits until its context ends, like a failover client that
// finds no sentinel.
type stuck struct{ redis.Scripter }

func (stuck) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	<-ctx.Done()
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(ctx.Err())
	return cmd
}

func TestReleaseAndCleanUpAreBounded(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(time.Second, nil)
	lock.client = New(stuck{})
	for name, call := range map[string]func(context.Context) error{
		"Release": lock.Release,
		"Obtain": func(ctx context.Context) error {
			_, err := New(stuck{}).Obtain(ctx, e.key, time.Second, nil)
			return err
		},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		begin := time.Now()
		if err := call(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) > patience/2 {
			t.Errorf("%s = %v after %v", name, err, time.Since(begin))
		}
	}
}
