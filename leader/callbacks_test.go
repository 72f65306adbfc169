package leader

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// A program may recover from the panic of OnNewLeader and call Run again. OnNewLeader
// is then called again.
func TestOnNewLeaderIsCalledAgainAfterAPanic(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var mu sync.Mutex
		var calls []string
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnNewLeader = func(identity string) {
				mu.Lock()
				defer mu.Unlock()
				if calls = append(calls, identity); len(calls) == 1 {
					panic(errBoom)
				}
			}
		}).start(t)
		<-a.done
		other := newReplica(t, server, "other", nil).start(t)
		await(t, testLease, "the other leads", other.atWork)
		a.done = make(chan struct{})
		a.start(t)
		synctest.Wait()
		other.join()
		await(t, testLease, "a leads", a.IsLeader)
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if want := []string{"a", "other", "a"}; a.panic != errBoom || !slices.Equal(calls, want) {
			t.Errorf("panic %v, calls %q, want %q", a.panic, calls, want)
		}
	})
}

// The work of a term has the values of the context given to Run, but not its end.
func TestWorkHasTheValuesOfTheCaller(t *testing.T) {
	type key struct{}
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil)
		ctx, cancel := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		go func() { defer close(a.done); a.err = a.Run(ctx) }()
		await(t, 0, "a leads", a.atWork)
		if got := a.lastCtx().Value(key{}); got != "value" {
			t.Errorf("Value = %v", got)
		}
		if _, ok := TermFromContext(t.Context()); ok {
			t.Error("TermFromContext finds a term in a context that no elector made")
		}
		cancel()
		<-a.done
	})
}
