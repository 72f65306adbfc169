package leader

import (
	"context"
	"testing"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// Electors of one redislock.Client share a connection for announcements. One that is
// stopped does not wait for the others.
func TestStoppedWhileAnotherOfTheSameClientListens(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	locker := redislock.New(env.client(env.server.Addr()))
	ended := make(map[string]chan error)
	stop := make(map[string]context.CancelFunc)
	for _, name := range []string{"one", "other"} {
		env.do("HSET", LockKey("", name), "token", "somebody", "metadata", "somebody", "fence", "1")
		e, err := New(locker, Config{Name: name, LeaseDuration: testLease, Logger: silent, Callbacks: Callbacks{OnStartedLeading: func(context.Context, Term) {}}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		ended[name], stop[name] = done, cancel
		go func() { done <- e.Run(ctx) }()
	}
	env.await("both listen", func() bool { return len(env.redis.PubSubChannels(t.Context(), "*").Val()) == 2 })
	for _, name := range []string{"one", "other"} {
		stop[name]()
		select {
		case err := <-ended[name]:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(patience):
			t.Fatalf("Run of %q does not return", name)
		}
	}
}
