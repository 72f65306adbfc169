package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// N3: work that loops in a process that was frozen past its lease. Its timers are due,
// no timer of the term has fired, and the end is known to the clocks alone.
func TestN3_LoopMakesNoCallAfterAFreeze(t *testing.T) {
	const period = testLease / 10
	type key struct{}
	for name, derive := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"Given":      func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} },
		"WithCancel": context.WithCancel,
		"WithTimeout": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(ctx, time.Hour)
		},
		"WithValue": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithValue(ctx, key{}, "value"), func() {}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				var late int
				ended := make(chan error, 1)
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
					cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
						derived, cancel := derive(ctx)
						defer cancel()
						ended <- Every(derived, period, func(context.Context) error {
							if term.Check() != nil {
								late++
							}
							return nil
						})
					}
				}).start(t)
				await(t, 0, "a leads", a.atWork)
				time.Sleep(period * 5 / 2) // between two calls
				a.suspend(a.timing.deadline)
				if err := <-ended; !errors.Is(err, ErrExpired) || late != 0 {
					t.Errorf("Every = %v after %d calls too many", err, late)
				}
				a.join()
			})
		})
	}
}

// The freeze hits the call itself, which outlasts the term.
func TestN3_NoCallFollowsOneThatWasFrozen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		calls := 0
		ended := make(chan error, 1)
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
				ended <- Every(ctx, time.Millisecond, func(context.Context) error {
					if calls++; calls == 3 {
						r.suspend(testLease)
					}
					return nil
				})
			}
		}).start(t)
		if err := <-ended; !errors.Is(err, ErrExpired) || calls != 3 {
			t.Errorf("Every = %v after %d calls, want the third to be the last", err, calls)
		}
		a.join()
	})
}

// The end of the wait and the end of the context come in the same instant, and select
// finds both ready.
func TestN3_SleepThatEndsWithItsContextFails(t *testing.T) {
	for range 50 {
		bubble(t, func(t *testing.T, server *memServer) {
			slept := make(chan error, 1)
			a := newReplica(t, server, "a", func(cfg *Config, r *replica) {
				cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) { slept <- Sleep(ctx, term.Remaining()) }
			})
			server.setFault(func(op string) memFault {
				if op == "refresh" {
					return memFault{err: errDown}
				}
				return memFault{}
			})
			a.start(t)
			if err := <-slept; !errors.Is(err, ErrExpired) {
				t.Fatalf("Sleep = %v, want %v", err, ErrExpired)
			}
			server.setFault(nil)
			a.join()
		})
	}
}

func TestSleep(t *testing.T) {
	errStop := errors.New("stop")
	for name, c := range map[string]struct {
		d     time.Duration
		end   time.Duration // when the context ends; 0: never
		takes time.Duration
		want  error
	}{
		"ToTheEnd":         {time.Minute, 0, time.Minute, nil},
		"Cut":              {time.Minute, time.Second, time.Second, errStop},
		"JustInTime":       {time.Minute, time.Minute + 1, time.Minute, nil},
		"Zero":             {0, 0, 0, nil},
		"Negative":         {-time.Minute, 0, 0, nil},
		"ZeroAtTheEnd":     {0, -1, 0, errStop},
		"NegativeAtTheEnd": {-time.Minute, -1, 0, errStop},
		"AtTheEnd":         {time.Minute, -1, 0, errStop},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				if c.end < 0 {
					cancel(errStop)
				}
				if c.end > 0 {
					defer time.AfterFunc(c.end, func() { cancel(errStop) }).Stop()
				}
				begin := time.Now()
				if err := Sleep(ctx, c.d); err != c.want || time.Since(begin) != c.takes {
					t.Errorf("Sleep = %v after %v, want %v after %v", err, time.Since(begin), c.want, c.takes)
				}
			})
		})
	}
}

// The work is told why its own context has ended, which need not be the end of the
// term.
func TestSleepReturnsTheCauseOfItsOwnContext(t *testing.T) {
	errStop := errors.New("stop")
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		derived, cancel := context.WithCancelCause(a.lastCtx())
		if err := Sleep(derived, time.Millisecond); err != nil {
			t.Errorf("Sleep = %v while the term lasts", err)
		}
		cancel(errStop)
		if err := Sleep(derived, time.Millisecond); err != errStop {
			t.Errorf("Sleep = %v, want %v", err, errStop)
		}
		a.lastTerm().Fail(errBoom)
		if err := Sleep(derived, time.Millisecond); err != errStop || err != context.Cause(derived) {
			t.Errorf("Sleep = %v after the end of the term as well, want %v", err, errStop)
		}
		if err := Sleep(a.lastCtx(), 0); !errors.Is(err, errBoom) {
			t.Errorf("Sleep = %v, want %v", err, errBoom)
		}
		a.join()
	})
}

func TestEveryCallsAtOnceAndThenEachPeriod(t *testing.T) {
	for name, c := range map[string]struct {
		takes []time.Duration // each call
		want  []time.Duration // when each call begins
	}{
		"Quick": {[]time.Duration{0, 0, 0}, []time.Duration{0, time.Second, 2 * time.Second}},
		"Slow":  {[]time.Duration{400 * time.Millisecond, 900 * time.Millisecond, 0}, []time.Duration{0, time.Second, 2 * time.Second}},
		// Calls that were missed are not made up for.
		"TooSlow": {[]time.Duration{3 * time.Second, 0, 0}, []time.Duration{0, 3 * time.Second, 4 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var calls []time.Duration
				errEnough := errors.New("enough")
				type key struct{}
				ctx := context.WithValue(t.Context(), key{}, "value")
				err := Every(ctx, time.Second, func(ctx context.Context) error {
					if ctx.Value(key{}) != "value" {
						t.Error("f was given another context")
					}
					calls = append(calls, time.Since(begin))
					time.Sleep(c.takes[len(calls)-1])
					if len(calls) == len(c.takes) {
						return errEnough
					}
					return nil
				})
				if err != errEnough {
					t.Errorf("Every = %v, want what f returned", err)
				}
				for i, want := range c.want {
					if calls[i] != want {
						t.Errorf("calls after %v, want %v", calls, c.want)
						break
					}
				}
			})
		})
	}
}

// The error of the last call counts even if the context has ended meanwhile.
func TestEveryReturnsTheErrorOfItsCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		begin := time.Now()
		err := Every(ctx, time.Hour, func(context.Context) error { cancel(); return errBoom })
		if err != errBoom || !time.Now().Equal(begin) {
			t.Errorf("Every = %v after %v, want %v at once", err, time.Since(begin), errBoom)
		}
	})
}

func TestEveryMakesNoCallAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		errStop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(errStop)
		called := false
		err := Every(ctx, time.Hour, func(context.Context) error { called = true; return errBoom })
		if err != errStop || called {
			t.Errorf("Every = %v, f was called: %t", err, called)
		}
	})
}

func TestEveryRefusesAPeriodThatIsNotPositive(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		called := false
		err := Every(t.Context(), d, func(context.Context) error { called = true; return errBoom })
		if err == nil || errors.Is(err, errBoom) || called {
			t.Errorf("Every with %v = %v, f was called: %t", d, err, called)
		}
	}
}
