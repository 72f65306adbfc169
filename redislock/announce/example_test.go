package announce_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
	"github.com/redisleader/redisleader/redislock/announce"
)

// Wait for a lock that somebody else holds. Announcements make the wait short. The
// timer bounds it in case one is lost.
func Example() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()
	locker := redislock.New(client)
	opt := &redislock.Options{Announce: true}

	holder, err := locker.Obtain(ctx, "report", time.Minute, opt)
	if err != nil {
		log.Fatal(err)
	}
	time.AfterFunc(100*time.Millisecond, func() { _ = holder.Release(ctx) })

	watch := locker.Announcements().Watch("report")
	defer watch.Join()
	defer watch.Close()
	for {
		lock, err := locker.Obtain(ctx, "report", time.Minute, opt)
		if err == nil {
			fmt.Println("obtained", lock.Key())
			_ = lock.Release(ctx)
			return
		}
		if err != redislock.ErrNotObtained {
			log.Fatal(err)
		}
		select {
		case a := <-watch.C:
			if a.Kind == announce.Released || a.Kind == announce.Subscribed {
				time.Sleep(a.Delay) // others may be about to try as well
			}
		case <-time.After(10 * time.Second):
		}
	}

	// Output:
	// obtained report
}

func ExampleSubscriptions_Watch() {
	client := redis.NewClient(&redis.Options{Addr: redisAddr, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	ctx := context.Background()

	watch := announce.New(client).Watch("backup")
	defer watch.Join()
	defer watch.Close()
	for a := range watch.C {
		switch a.Kind {
		case announce.Subscribed:
			fmt.Println("subscribed: what came before went unheard")
			lock, err := redislock.Obtain(ctx, client, "backup", time.Minute, &redislock.Options{Announce: true})
			if err != nil {
				log.Fatal(err)
			}
			_ = lock.Release(ctx)
		case announce.Released:
			fmt.Println("released: try after", a.Delay)
			return
		case announce.Acquired:
			fmt.Println("acquired: somebody was faster")
		case announce.Unavailable:
			fmt.Println("unavailable:", a.Err)
		}
	}

	// Output:
	// subscribed: what came before went unheard
	// released: try after 0s
}
