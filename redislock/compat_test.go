package redislock_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

// The tests in this file look like code of users of github.com/bsm/redislock. With only
// the import path changed, such code has to compile and do the same.

var compatKeys atomic.Int64

// compat returns what such code usually starts with, and a free key.
func compat(t *testing.T) (context.Context, *redis.Client, string) {
	t.Parallel()
	client := redis.NewClient(&redis.Options{Network: "tcp", Addr: redisAddr})
	t.Cleanup(func() { _ = client.Close() })
	return context.Background(), client, fmt.Sprintf("compat-%d", compatKeys.Add(1))
}

func TestCompatLifeOfALock(t *testing.T) {
	ctx, client, key := compat(t)
	locker := redislock.New(client)

	lock, err := locker.Obtain(ctx, key, time.Hour, nil)
	if err == redislock.ErrNotObtained {
		t.Fatal("Could not obtain lock!")
	} else if err != nil {
		t.Fatal(err)
	}
	defer lock.Release(ctx)

	if ttl, err := lock.TTL(ctx); err != nil {
		t.Fatal(err)
	} else if ttl <= 0 || ttl > time.Hour {
		t.Fatalf("expected an hour, got %v", ttl)
	}
	if err := lock.Refresh(ctx, time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	if ttl, err := lock.TTL(ctx); err != nil || ttl <= 0 || ttl > time.Minute {
		t.Fatalf("expected a minute, got %v, %v", ttl, err)
	}
	if _, err := locker.Obtain(ctx, key, time.Hour, nil); err != redislock.ErrNotObtained {
		t.Fatalf("expected %v, got %v", redislock.ErrNotObtained, err)
	}
	if err := lock.Release(ctx); err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(ctx); err != redislock.ErrLockNotHeld {
		t.Fatalf("expected %v, got %v", redislock.ErrLockNotHeld, err)
	}
}

func TestCompatExpiredLock(t *testing.T) {
	ctx, client, key := compat(t)
	lock, err := redislock.Obtain(ctx, client, key, 5*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	time.Sleep(10 * time.Millisecond)

	if err := lock.Refresh(ctx, time.Hour, nil); err != redislock.ErrNotObtained {
		t.Fatalf("expected %v, got %v", redislock.ErrNotObtained, err)
	}
	if ttl, err := lock.TTL(ctx); err != nil || ttl != 0 {
		t.Fatalf("expected 0, got %v, %v", ttl, err)
	}
	if err := lock.Release(ctx); err != redislock.ErrLockNotHeld {
		t.Fatalf("expected %v, got %v", redislock.ErrLockNotHeld, err)
	}
}

func TestCompatOptions(t *testing.T) {
	ctx, client, key := compat(t)
	lock, err := redislock.Obtain(ctx, client, key, time.Hour, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 3),
		Metadata:      "my-data",
		Token:         "foo",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release(ctx) }()
	if lock.Key() != key || lock.Metadata() != "my-data" || lock.Token() != "foo" {
		t.Fatalf("got %q, %q, %q", lock.Key(), lock.Metadata(), lock.Token())
	}
	// The same token obtains the lock again, another token does not.
	if _, err := redislock.Obtain(ctx, client, key, time.Hour, &redislock.Options{Token: "foo"}); err != nil {
		t.Fatal(err)
	}
	if _, err := redislock.Obtain(ctx, client, key, time.Hour, &redislock.Options{Token: "bar"}); err != redislock.ErrNotObtained {
		t.Fatalf("expected %v, got %v", redislock.ErrNotObtained, err)
	}
}

func TestCompatRetryUntilObtained(t *testing.T) {
	ctx, client, key := compat(t)
	if _, err := redislock.Obtain(ctx, client, key, 20*time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	lock, err := redislock.Obtain(ctx, client, key, time.Hour, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(100*time.Millisecond), 30),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Release(ctx)
}

func TestCompatRetryUntilDeadline(t *testing.T) {
	ctx, client, key := compat(t)
	locker := redislock.New(client)
	holder, err := locker.Obtain(ctx, key, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release(ctx)

	for _, strategy := range []redislock.RetryStrategy{
		redislock.NoRetry(),
		redislock.LimitRetry(redislock.LinearBackoff(time.Millisecond), 3),
		redislock.LimitRetry(redislock.ExponentialBackoff(time.Millisecond, 10*time.Millisecond), 3),
	} {
		lockCtx, cancel := context.WithDeadline(ctx, time.Now().Add(time.Minute))
		lock, err := locker.Obtain(lockCtx, key, time.Second, &redislock.Options{RetryStrategy: strategy})
		cancel()
		if err != redislock.ErrNotObtained {
			t.Fatalf("expected %v, got %v", redislock.ErrNotObtained, err)
		}
		defer lock.Release(ctx) // common in such code, though lock is nil
	}
}

func TestCompatMulti(t *testing.T) {
	ctx, client, key := compat(t)
	keys := []string{key + "1", key + "2"}
	lock, err := redislock.New(client).ObtainMulti(ctx, keys, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := redislock.ObtainMulti(ctx, client, keys[1:], time.Hour, nil); err != redislock.ErrNotObtained {
		t.Fatalf("expected %v, got %v", redislock.ErrNotObtained, err)
	}
	if err := lock.Release(ctx); err != nil {
		t.Fatal(err)
	}
}

// fewTimes is a strategy as users write it.
type fewTimes struct{ left int }

func (s *fewTimes) NextBackoff() time.Duration {
	if s.left--; s.left < 0 {
		return 0
	}
	return time.Millisecond
}

var (
	_ redislock.RetryStrategy = new(fewTimes)
	_ redislock.RedisClient   = redis.UniversalClient(nil)
)

func TestCompatOwnStrategy(t *testing.T) {
	ctx, client, key := compat(t)
	holder, err := redislock.Obtain(ctx, client, key, time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer holder.Release(ctx)
	strategy := &fewTimes{left: 3}
	opt := &redislock.Options{RetryStrategy: strategy}
	if _, err := redislock.Obtain(ctx, client, key, time.Hour, opt); err != redislock.ErrNotObtained {
		t.Fatal(err)
	}
	if strategy.left != -1 {
		t.Errorf("left = %d, want -1", strategy.left)
	}
}
