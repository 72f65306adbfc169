package leader

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// N6: the work can say why it gives up. The reason reaches the cause of its context,
// the Observer, Status and the log.
func TestN6_FailSaysWhyTheTermEnded(t *testing.T) {
	errFull := errors.New("disk full")
	for name, c := range map[string]struct {
		err    error
		causes []error // that the cause of the term matches
		reason EndReason
		cause  string // in the log
	}{
		"Failed":       {errFull, []error{ErrFailed, errFull}, EndedFailed, "leader: the work has failed: disk full"},
		"NoError":      {nil, []error{ErrFailed}, EndedFailed, "leader: the work has failed"},
		"Deposed":      {ErrDeposed, []error{ErrFailed, ErrDeposed}, EndedDeposed, "leader: the work has failed: leader: deposed"},
		"DeposedSince": {fmt.Errorf("%w: token 7", ErrDeposed), []error{ErrFailed, ErrDeposed}, EndedDeposed, "leader: the work has failed: leader: deposed: token 7"},
		"LikeAnEnding": {ErrLost, []error{ErrFailed, ErrLost}, EndedFailed, "leader: the work has failed: leader: lock lost"},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				var log logLines
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.Logger = log.logger(0)
					cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
						time.Sleep(time.Millisecond)
						term.Fail(c.err)
						if ctx.Err() == nil || term.Check() == nil {
							t.Errorf("after Fail: Err = %v, Check = %v", ctx.Err(), term.Check())
						}
					}
				}).start(t)
				await(t, testLease, "the term has ended", func() bool { return a.stops() == 1 })
				ctx, term := a.lastCtx(), a.lastTerm()
				for _, want := range c.causes {
					if !errors.Is(context.Cause(ctx), want) || !errors.Is(term.Check(), want) {
						t.Errorf("cause = %v, Check = %v, want %v", context.Cause(ctx), term.Check(), want)
					}
				}
				events := a.recorded()
				ended := slices.Index(events, fmt.Sprintf("ended %s leader=false ctx=true", c.reason))
				if len(events) != 5 || ended < 0 || events[4] != "stopped, lock held=true" {
					t.Errorf("events %q", events)
				}
				if last := a.Status().LastTerms; len(last) != 1 || last[0].Reason != c.reason || last[0].FenceToken != term.FenceToken() {
					t.Errorf("LastTerms = %+v, want one that is %s", last, c.reason)
				}
				if lines := log.with(`"Term ended"`, fmt.Sprintf(`"reason"=%q`, c.reason), fmt.Sprintf(`"cause"=%q`, c.cause)); len(lines) != 1 {
					t.Errorf("logged %q", log.all())
				}
				if a.holds() {
					t.Error("the lock was not released")
				}
			})
		})
	}
}

// Fail may be called by any goroutine of the work. The lock is kept until the work has
// returned, as after every other ending.
func TestN6_FailWaitsForTheWork(t *testing.T) {
	const overtime = 2 * testLease
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(overtime) }
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		b := newReplica(t, server, "b", nil).start(t)
		synctest.Wait()
		a.lastTerm().Fail(errBoom)
		if a.IsLeader() {
			t.Error("a leads after Fail")
		}
		if waited := await(t, 2*overtime, "b leads", b.atWork); waited < overtime {
			t.Errorf("b led after %v, while a's work ran for %v", waited, overtime)
		}
		a.lastTerm().Fail(errors.New("once more")) // of a term that is over
		synctest.Wait()
		if !b.IsLeader() {
			t.Error("Fail of a past term ended another")
		}
		b.join()
		a.join()
	})
}

// A term that has ended stays ended for the reason that it ended for, even if nobody
// has looked yet.
func TestFailHasNoEffectOnATermThatHasEnded(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*memServer, *replica)
		want error
	}{
		"Expired":  {func(_ *memServer, a *replica) { a.suspend(a.timing.deadline) }, ErrExpired},
		"Resigned": {func(_ *memServer, a *replica) { a.lastTerm().t.resignation.request(); synctest.Wait() }, ErrResigned},
		"Lost":     {func(s *memServer, a *replica) { s.delete(a.key); <-a.lastCtx().Done() }, ErrLost},
		"Failed":   {func(_ *memServer, a *replica) { a.lastTerm().Fail(errDown) }, errDown},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(time.Millisecond) }
				}).start(t)
				await(t, 0, "a leads", a.atWork)
				term := a.lastTerm()
				c.end(server, a)
				term.Fail(errBoom)
				if err := term.Check(); !errors.Is(err, c.want) || errors.Is(err, errBoom) {
					t.Errorf("Check = %v, want %v", err, c.want)
				}
				a.join()
			})
		})
	}
	Term{}.Fail(errBoom) // the zero Term has ended as well
}

// errHook is a context with something to do when it is looked at.
type errHook struct {
	context.Context
	hook func()
}

func (c errHook) Err() error {
	c.hook()
	return c.Context.Err()
}

// The work fails and returns while the goroutine of Run is between two looks, and so
// finds both at once. The reason is that the work has failed.
func TestN6_FailedWorkThatReturnsHasFailed(t *testing.T) {
	for range 20 { // two channels are ready, and select picks one at random
		bubble(t, func(t *testing.T, server *memServer) {
			started, fail := make(chan struct{}), make(chan struct{})
			a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
				cfg.Callbacks.OnStartedLeading = func(_ context.Context, term Term) { close(started); <-fail; term.Fail(errBoom) }
			})
			c := newCandidate(a.Elector)
			l, _ := c.tryToObtain(t.Context())
			var once sync.Once
			reason := c.lead(errHook{t.Context(), func() {
				if closed(started) {
					once.Do(func() { close(fail); <-l.work.returned })
				}
			}}, l)
			if !errors.Is(reason, ErrFailed) {
				t.Errorf("the reason is %v, the cause %v", reason, l.term.check())
			}
			if err := c.stepDown(l, reason); err != nil {
				t.Error(err)
			}
			c.join()
		})
	}
}

// N6: work that fails again and again is started at a falling rate.
func TestN6_FailingWorkBacksOff(t *testing.T) {
	for name, err := range map[string]error{"Failed": errBoom, "Deposed": ErrDeposed, "LikeAResignation": ErrResigned} {
		t.Run(name, func(t *testing.T) {
			testBackOff(t, func(_ context.Context, term Term) { term.Fail(err) })
		})
	}
}

// A term that lasted shows that the work can succeed.
func TestBackOffStartsAnewAfterALongTerm(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var mu sync.Mutex
		var starts, ends []time.Time
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(_ context.Context, term Term) {
				mu.Lock()
				starts = append(starts, time.Now())
				mu.Unlock()
				if len(starts) == 6 {
					time.Sleep(testLease)
				}
				term.Fail(errBoom)
				mu.Lock()
				ends = append(ends, time.Now())
				mu.Unlock()
			}
		}).start(t)
		await(t, time.Minute, "seven terms", func() bool { mu.Lock(); defer mu.Unlock(); return len(starts) >= 7 })
		a.join()
		mu.Lock()
		defer mu.Unlock()
		if pause := starts[5].Sub(ends[4]); pause < testLease {
			t.Errorf("paused for %v after five short terms", pause)
		}
		if pause := starts[6].Sub(ends[5]); pause > 2*a.timing.retry {
			t.Errorf("paused for %v after a long term, RetryPeriod is %v", pause, a.timing.retry)
		}
	})
}
