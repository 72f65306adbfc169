package leadertest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
)

// A unit test of a callback: it does its work, and stops when its term ends.
func ExampleNewTerm() {
	work := func(ctx context.Context, term leader.Term) {
		err := leader.Every(ctx, time.Minute, func(context.Context) error {
			fmt.Println("write with token", term.FenceToken())
			return nil
		})
		fmt.Println("stopped:", err)
	}

	term := leadertest.NewTerm(leadertest.TermConfig{FenceToken: 7})
	time.AfterFunc(10*time.Millisecond, func() { term.End(leader.ErrLost) })
	work(term.Context(), term.Term)

	// Output:
	// write with token 7
	// stopped: leader: lock lost
}
