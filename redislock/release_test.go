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
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("second Release: %v", err)
	}
	s.wantGone(s.key)
}

func TestReleaseWorksWithACancelledContext(t *testing.T) {
	s := newScene(t)
	s.must(s.obtain(long, nil).Release(canceled()))
	s.wantGone(s.key)
	past, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Hour))
	defer cancel()
	s.must(s.obtain(long, nil).Release(past))
	s.wantGone(s.key)
}

func TestReleaseIsBounded(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, time.Second, nil)
	s.must(err)
	proxy.Hole()
	begin := time.Now()
	wantTrouble(t, lock.Release(t.Context()))
	if took := time.Since(begin); took > maxDetached+patience/2 {
		t.Errorf("Release took %v", took)
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v though Redis may have deleted the lock", left)
	}
}

func TestReleaseOfWhatRanOut(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(20*time.Millisecond, nil)
	s.eventually("the lock to run out", func() bool {
		return s.redis.Exists(t.Context(), s.key).Val() == 0 && lock.Remaining() <= 0
	})
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
}

// TestReleaseDeletesOursThoughTheLeaseEnded is the case of a machine that slept: the
// next holder need not wait.
func TestReleaseDeletesOursThoughTheLeaseEnded(t *testing.T) {
	s := newScene(t)
	client := New(s.app)
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	client.now = func() clock.Instant { return clock.Now().Suspended(time.Hour) }
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
}

func TestC11_ReleaseReplyLost(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied(resending)
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	proxy.ResetCommands()
	proxy.NoReply(1)
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or no reply was lost", n)
	}
}

func TestC11_ReleaseRepeatedByTheCaller(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	proxy.NoReply(1)
	wantTrouble(t, lock.Release(t.Context()))
	s.wantGone(s.key)
	s.must(lock.Release(t.Context()))
}

func TestC11_TheftIsReported(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(s.redis.Del(t.Context(), s.key).Err())
	thief := s.obtain(long, nil)
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	s.wantField(s.key, "token", thief.Token())
	s.wantTTL(s.key, long)
}

func TestC11_LossThatWasSeenIsReported(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
	s.must(s.redis.Del(t.Context(), s.key).Err())
	if err := lock.Refresh(t.Context(), long, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
}

func TestB8_ReleaseFailsTwice(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutBefore)
	wantTrouble(t, lock.Release(t.Context()))
	wantTrouble(t, lock.Release(t.Context()))
	s.wantField(s.key, "token", lock.Token())
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
}

func TestB8_SomebodyElseHoldsItByTheThirdRelease(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	lock, err := client.Obtain(t.Context(), s.key, long, nil)
	s.must(err)
	scripts(proxy, faultproxy.CutBefore, faultproxy.CutAfter)
	wantTrouble(t, lock.Release(t.Context()))
	wantTrouble(t, lock.Release(t.Context()))
	other := s.obtain(long, nil)
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	s.wantField(s.key, "token", other.Token())
}

func TestConcurrentReleases(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, nil)
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
	// Releases that are under way together cannot be told from repetitions of one, so
	// more than one may succeed.
	if released.Load() < 1 {
		t.Error("no Release succeeded")
	}
	s.wantGone(s.key)
}

// TestForeignKeyIsNotReleased is a key of ours that became something else.
func TestForeignKeyIsNotReleased(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(long, &Options{Token: "mine"})
	s.must(s.redis.Set(t.Context(), s.key, "mine", 0).Err())
	if ttl, err := lock.TTL(t.Context()); ttl != 0 || err != nil {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	if got := s.redis.Get(t.Context(), s.key).Val(); got != "mine" {
		t.Errorf("key holds %q", got)
	}
}

// stuck is a client that waits for something until its context is done, as a failover
// client does that finds no sentinel.
type stuck struct{ redis.Scripter }

func (stuck) EvalSha(ctx context.Context, _ string, _ []string, _ ...any) *redis.Cmd {
	<-ctx.Done()
	cmd := redis.NewCmd(ctx)
	cmd.SetErr(ctx.Err())
	return cmd
}

func TestReleaseAndCleanUpAreBounded(t *testing.T) {
	s := newScene(t)
	lock := s.obtain(time.Second, nil)
	lock.client = New(stuck{})
	for name, call := range map[string]func(context.Context) error{
		"Release": lock.Release,
		"Obtain": func(ctx context.Context) error {
			_, err := New(stuck{}).Obtain(ctx, s.key, time.Second, nil)
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
