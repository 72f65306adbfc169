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
		fmt.Println("somebody else writes the report")
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

// The account rejects a token that is lower than the highest it has seen. A holder that
// lost its lock without noticing, because its process was frozen, thereby does no harm.
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

	opt := &redislock.Options{FenceKey: "{account}:fence"} // the braces keep both keys in one slot of a Cluster
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

	// Retries that grow apart, until a deadline of one's own. Without one the ttl is
	// the limit.
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	backoff := &redislock.Options{RetryStrategy: redislock.ExponentialBackoff(16*time.Millisecond, time.Second)}
	_, err = locker.Obtain(ctx, "migration", 10*time.Second, backoff)
	fmt.Println(errors.Is(err, redislock.ErrNotObtained), errors.Is(err, context.DeadlineExceeded))

	// The holder goes while another waits.
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

// A watchdog that keeps the lock while the work runs, and cancels the work once the
// lock is lost. Package leader does this and more: its context also ends by the clock
// while Redis does not answer.
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
