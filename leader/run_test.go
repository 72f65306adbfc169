package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// runAgain starts a candidate whose Run has returned.
func (r *replica) runAgain(t *testing.T) *replica {
	t.Helper()
	r.done = make(chan struct{})
	return r.start(t)
}

// loseCounter makes the server forget its fencing tokens, as in a failover.
func (s *memServer) loseCounter() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fence = 0
	clear(s.entries)
}

// What a candidate has seen outlives its Run: the second leads with a higher token,
// though the counter is lost.
func TestHighestTokenOutlivesARun(t *testing.T) {
	t.Run("Own", func(t *testing.T) {
		bubble(t, func(t *testing.T, server *memServer) {
			server.fence = 10
			a := newReplica(t, server, "a", nil).start(t)
			await(t, 0, "a leads", a.atWork)
			first := a.lastTerm().FenceToken()
			a.join()
			server.loseCounter()
			a.runAgain(t)
			await(t, 0, "a leads in its second Run", a.atWork)
			if second := a.lastTerm().FenceToken(); second <= first {
				t.Errorf("fencing token %d after %d", second, first)
			}
			a.join()
		})
	})
	t.Run("Seen", func(t *testing.T) {
		bubble(t, func(t *testing.T, server *memServer) {
			server.fence = 10
			b := newReplica(t, server, "b", nil).start(t)
			await(t, 0, "b leads", b.atWork)
			a := newReplica(t, server, "a", nil).start(t)
			await(t, 0, "a follows", func() bool { return a.GetLeader() == "b" })
			a.join()
			b.join()
			server.loseCounter()
			a.runAgain(t)
			await(t, 0, "a leads in its second Run", a.atWork)
			if own, seen := a.lastTerm().FenceToken(), b.lastTerm().FenceToken(); own <= seen {
				t.Errorf("fencing token %d, after it has seen %d", own, seen)
			}
			a.join()
		})
	})
}

// What a Run leaves behind is of no harm to the next: an error, a panic, a request to
// stop.
func TestSecondRunStartsAfresh(t *testing.T) {
	for name, work := range map[string]func(context.Context, Term){
		"Stopped":  func(ctx context.Context, _ Term) { <-ctx.Done() },
		"Failed":   func(_ context.Context, term Term) { term.Fail(errBoom) },
		"Panicked": func(context.Context, Term) { panic(errBoom) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				runs := 0
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
						if runs == 0 {
							work(ctx, term)
							return
						}
						<-ctx.Done()
					}
				}).start(t)
				synctest.Wait()
				a.join()
				a.want(t, "between the Runs", StateStopped, Leader{})
				runs, a.panic = 1, nil
				a.runAgain(t)
				await(t, 0, "a leads in its second Run", a.atWork)
				time.Sleep(3 * testLease)
				if !a.IsLeader() || len(a.Status().LastTerms) != 1 {
					t.Errorf("leader %t, past terms %+v", a.IsLeader(), a.Status().LastTerms)
				}
				if err := a.join(); err != nil || a.panic != nil || a.stops() != 2 {
					t.Errorf("second Run = %v, panic %v, %d stops", err, a.panic, a.stops())
				}
			})
		})
	}
}

// Work that was left behind keeps the next Run out, and no longer than it runs.
func TestRunAfterADrainTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.DrainTimeout = time.Second
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-finish; <-ctx.Done() }
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		if err := a.join(); !errors.Is(err, ErrDrainTimeout) {
			t.Errorf("Run = %v", err)
		}
		a.want(t, "after the drain timeout", StateStopped, Leader{})
		if err := a.Run(t.Context()); err != ErrAlreadyRunning {
			t.Errorf("Run = %v while the old work runs", err)
		}
		close(finish)
		synctest.Wait()
		a.runAgain(t)
		await(t, 2*testLease, "a leads in its second Run", a.atWork)
		a.join()
	})
}
