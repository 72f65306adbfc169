package leader

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// N6: work that starts goroutines and returns, as is usual in client-go, ends its term.
// The cause says so.
func TestN6_EarlyReturnHasACauseOfItsOwn(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var log logLines
		background := make(chan error, 1)
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = log.logger(0)
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
				go func() { <-ctx.Done(); background <- context.Cause(ctx) }()
			}
		}).start(t)
		if cause := <-background; !errors.Is(cause, ErrReturned) {
			t.Errorf("the goroutine that was started sees %v, want %v", cause, ErrReturned)
		}
		a.stop()
		<-a.done
		if err := a.lastTerm().Check(); !errors.Is(err, ErrReturned) {
			t.Errorf("Check = %v, want %v", err, ErrReturned)
		}
		if last := a.Status().LastTerms; len(last) != 1 || last[0].Reason != EndedReturned {
			t.Errorf("LastTerms = %+v", last)
		}
		if n := a.countEvents("ended returned leader=false ctx=false"); n != 1 {
			t.Errorf("events %q", a.recorded())
		}
		if len(log.with(`"Term ended"`, `"reason"="returned"`, `"cause"="leader: OnStartedLeading returned"`)) != 1 {
			t.Errorf("logged %q", log.all())
		}
	})
}

// explanations are the lines that say how to do without early returns.
func explanations(log *logLines) int {
	return len(log.with("must return only when its context is done"))
}

func TestN6_EarlyReturnIsExplainedOnce(t *testing.T) {
	for name, work := range map[string]func(terms int32, term Term){
		"Always":           func(int32, Term) {},
		"AfterAFailure":    func(n int32, term Term) { failFirst(n, term) },
		"AfterLongTerms":   func(int32, Term) { time.Sleep(2 * testLease) },
		"LongAndShortOnes": func(n int32, _ Term) { time.Sleep(time.Duration(n%2) * 2 * testLease) },
		"BetweenFailures": func(n int32, term Term) {
			if n%2 == 0 {
				time.Sleep(2 * testLease)
				term.Fail(errBoom)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				var log logLines
				var terms atomic.Int32
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.Logger = log.logger(0)
					cfg.Callbacks.OnStartedLeading = func(_ context.Context, term Term) { work(terms.Add(1), term) }
				}).start(t)
				time.Sleep(time.Minute)
				a.join()
				if n := explanations(&log); n != 1 || terms.Load() < 5 {
					t.Errorf("explained %d times in %d terms, want once", n, terms.Load())
				}
			})
		})
	}
}

func failFirst(n int32, term Term) {
	if n == 1 {
		term.Fail(errBoom)
	}
}

// Work that returns because its term is over did what it should.
func TestReturnAfterTheEndIsNotExplained(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var log logLines
		a := newReplica(t, server, "a", logTo(&log, 0)).start(t)
		await(t, 0, "a leads", a.atWork)
		server.delete(a.key)
		await(t, testLease, "a leads again", func() bool { return a.starts() == 2 })
		a.lastTerm().Fail(errBoom)
		await(t, testLease, "a leads once more", func() bool { return a.starts() == 3 })
		a.join()
		synctest.Wait()
		if explanations(&log) != 0 || len(log.with(`"reason"="returned"`)) != 0 {
			t.Errorf("logged %q", log.all())
		}
	})
}
