package leadertest_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/redislock"
)

// A test of an election in a bubble, where a lease of 15 s runs out in no time. The only
// candidate leads, somebody else takes its lock for a minute, it leads again, and then it
// cannot reach Redis. In your own package testElection would be called TestElection.
func Example_bubble() {
	_ = testElection
}

func testElection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, ended := leadertest.NewServer(), make(chan error)
		work := func(ctx context.Context, _ leader.Term) { <-ctx.Done(); ended <- context.Cause(ctx) }
		callbacks := leader.Callbacks{OnStartedLeading: work}
		elector, _ := leader.New(redislock.New(server), leader.Config{Name: "reports", Callbacks: callbacks})
		var group sync.WaitGroup
		group.Go(func() { _ = elector.Run(t.Context()) })
		t.Cleanup(group.Wait) // Run has to return within the bubble

		synctest.Wait() // until the elector has nothing left to do at this moment
		server.Take(leader.LockKey("", "reports"), time.Minute)
		if err := <-ended; !errors.Is(err, leader.ErrLost) {
			t.Error(err)
		}
		time.Sleep(2 * time.Minute)
		server.Fail(errors.New("connection refused"))
		if err := <-ended; !errors.Is(err, leader.ErrExpired) {
			t.Error(err)
		}
	})
}
