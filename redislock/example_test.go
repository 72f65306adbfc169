package redislock_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

func Example() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()

	locker := redislock.New(client)
	lock, err := locker.Obtain(ctx, "report", 10*time.Second, nil)
	if err == redislock.ErrNotObtained {
		fmt.Println("somebody else is writing the report")
		return
	} else if err != nil {
		log.Fatal(err)
	}
	defer func() {
		if err := lock.Release(ctx); err != nil {
			log.Print(err)
		}
	}()

	fmt.Println("obtained", lock.Key())
	_, err = locker.Obtain(ctx, "report", 10*time.Second, nil)
	fmt.Println("a second time:", err)

	// Output:
	// obtained report
	// a second time: redislock: not obtained
}

// The account rejects a token that is lower than the highest it has seen. So a holder
// that lost its lock without noticing, because its process was frozen, does no harm.
func ExampleLock_FenceToken() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()

	var account struct {
		sync.Mutex
		highest int64 // fencing token
		balance int
	}
	deposit := func(fence int64, amount int) error {
		account.Lock()
		defer account.Unlock()
		if fence < account.highest {
			return errors.New("stale token")
		}
		account.highest = fence
		account.balance += amount
		return nil
	}

	// The braces keep both keys in one slot of a Cluster.
	opt := &redislock.Options{FenceKey: "{account}:fence"}
	first, err := redislock.Obtain(ctx, client, "{account}", 20*time.Millisecond, opt)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("first:", deposit(first.FenceToken(), 100))

	time.Sleep(50 * time.Millisecond) // a pause that the first holder does not notice
	second, err := redislock.Obtain(ctx, client, "{account}", 10*time.Second, opt)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = second.Release(ctx) }()
	fmt.Println("second:", deposit(second.FenceToken(), 10))
	fmt.Println("first, late:", deposit(first.FenceToken(), 100))
	fmt.Println("balance:", account.balance)

	// Output:
	// first: <nil>
	// second: <nil>
	// first, late: stale token
	// balance: 110
}

// A transfer needs both accounts or none. The braces keep both locks in one slot of a
// Cluster.
func ExampleClient_ObtainMulti() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()
	locker := redislock.New(client)

	savings, err := locker.Obtain(ctx, "{accounts}:savings", 10*time.Second, nil)
	if err != nil {
		log.Fatal(err)
	}
	both := []string{"{accounts}:checking", "{accounts}:savings"}
	_, err = locker.ObtainMulti(ctx, both, 10*time.Second, nil)
	fmt.Println("while one is held:", err)

	if err := savings.Release(ctx); err != nil {
		log.Fatal(err)
	}
	lock, err := locker.ObtainMulti(ctx, both, 10*time.Second, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("obtained", lock.Keys())
	fmt.Println("released:", lock.Release(ctx)) // both at once

	// Output:
	// while one is held: redislock: not obtained
	// obtained [{accounts}:checking {accounts}:savings]
	// released: <nil>
}

// An operator asks the holder of a lock to give it up. All that is needed is the name
// of the lock and the holder's fencing token, which HGETALL shows. Do not delete the
// key instead: the lock would have two holders until the first one notices.
func ExampleClient_RequestRelease() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()

	opt := &redislock.Options{FenceKey: "{import}:fence"}
	lock, err := redislock.Obtain(ctx, client, "{import}", 10*time.Second, opt)
	if err != nil {
		log.Fatal(err)
	}

	// On the operator's machine.
	operator := redislock.New(client)
	fence, err := client.HGet(ctx, "{import}", "fence").Int64()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("an earlier holder:", operator.RequestRelease(ctx, "{import}", fence-1))
	fmt.Println("the holder:", operator.RequestRelease(ctx, "{import}", fence))

	// The holder learns of it when it refreshes the lock, finishes, and releases it.
	if err := lock.Refresh(ctx, 10*time.Second, nil); err != nil {
		log.Fatal(err)
	}
	if lock.ReleaseRequested() {
		fmt.Println("released:", lock.Release(ctx))
	}

	// Output:
	// an earlier holder: redislock: lock not held
	// the holder: <nil>
	// released: <nil>
}

func ExampleClient_Obtain_retry() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	locker := redislock.New(client)

	holder, err := locker.Obtain(context.Background(), "migration", 10*time.Second, &redislock.Options{Metadata: "host-1"})
	if err != nil {
		log.Fatal(err)
	}

	// Three retries.
	seen := 0
	_, err = locker.Obtain(context.Background(), "migration", 10*time.Second, &redislock.Options{
		RetryStrategy: redislock.LimitRetry(redislock.LinearBackoff(5*time.Millisecond), 3),
		OnHeld:        func(h redislock.Holder) { seen++ },
	})
	fmt.Println(err == redislock.ErrNotObtained, "after", seen, "attempts")

	// Retries with growing waits, until a deadline. Without a deadline the ttl is the
	// limit.
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	backoff := &redislock.Options{RetryStrategy: redislock.ExponentialBackoff(16*time.Millisecond, time.Second)}
	_, err = locker.Obtain(ctx, "migration", 10*time.Second, backoff)
	fmt.Println(errors.Is(err, redislock.ErrNotObtained), errors.Is(err, context.DeadlineExceeded))

	// The holder releases the lock while somebody else waits for it.
	time.AfterFunc(20*time.Millisecond, func() { _ = holder.Release(context.Background()) })
	lock, err := locker.Obtain(context.Background(), "migration", 10*time.Second, backoff)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = lock.Release(context.Background()) }()
	fmt.Println("obtained", lock.Key())

	// Output:
	// true after 4 attempts
	// true true
	// obtained migration
}

// A watchdog keeps the lock while the work runs, and cancels the work when the lock is
// lost. Package leader does this and more: its context also ends by the clock while
// Redis does not answer.
func ExampleLock_Refresh() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()

	const ttl = 600 * time.Millisecond
	lock, err := redislock.Obtain(context.Background(), client, "shard-7", ttl, nil)
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = lock.Release(context.Background()) }()

	ctx, cancel := context.WithCancelCause(context.Background())
	var watchdog sync.WaitGroup
	watchdog.Go(func() {
		for tick := time.Tick(ttl / 3); ; {
			select {
			case <-ctx.Done():
				return
			case <-tick:
			}
			attempt, done := context.WithTimeout(ctx, ttl/3)
			err := lock.Refresh(attempt, ttl, nil)
			done()
			if err == redislock.ErrNotObtained || lock.Remaining() <= 0 {
				cancel(redislock.ErrNotObtained)
				return
			}
		}
	})

	time.Sleep(ttl * 3 / 2) // the work goes on
	fmt.Println("still ours:", lock.Remaining() > 0)
	client.Del(ctx, "shard-7") // an operator interferes
	<-ctx.Done()               // so the work has to stop
	fmt.Println("stopped:", context.Cause(ctx))
	cancel(nil)
	watchdog.Wait()

	// Output:
	// still ours: true
	// stopped: redislock: not obtained
}
