package leader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestFirstCandidateLeadsAndRenewsEveryThirdOfTheLease(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		time.Sleep(10 * testLease)
		synctest.Wait()
		if got := server.count("refresh"); got != 30 && got != 29 {
			t.Errorf("%d refreshes in 10 leases, want 30", got)
		}
		term := a.lastTerm()
		if term.Name() != "test" || term.Identity() != "a" || term.FenceToken() != 1 || term.Check() != nil {
			t.Errorf("term = %q %q %d %v", term.Name(), term.Identity(), term.FenceToken(), term.Check())
		}
		if from, ok := TermFromContext(a.lastCtx()); !ok || from != term {
			t.Errorf("TermFromContext = %v, %t", from, ok)
		}
		if err := a.join(); err != nil {
			t.Errorf("Run = %v, want nil after a requested stop", err)
		}
		want := []string{"began", "started", "ended stopped leader=false ctx=false", "returned", "stopped, lock held=true"}
		if got := a.recorded(); !reflect.DeepEqual(got, want) {
			t.Errorf("events %q, want %q", got, want)
		}
		if a.holds() {
			t.Error("the lock was not released")
		}
	})
}

func TestOneLeaderAmongFiveThroughHandOvers(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var replicas []*replica
		for i := range 5 {
			replicas = append(replicas, newReplica(t, server, fmt.Sprint("r", i), nil).start(t))
		}
		var last int64
		for range 4 {
			leader := awaitOneLeader(t, replicas)
			if fence := leader.lastTerm().FenceToken(); fence <= last {
				t.Errorf("fencing token %d after %d", fence, last)
			} else {
				last = fence
			}
			if err := leader.join(); err != nil {
				t.Fatal(err)
			}
			replicas = slices.DeleteFunc(replicas, func(r *replica) bool { return r == leader })
		}
		replicas[0].join()
	})
}

// awaitOneLeader waits for a leader and checks that it is the only one.
func awaitOneLeader(t *testing.T, replicas []*replica) *replica {
	t.Helper()
	var leaders []*replica
	await(t, 2*testLease, "somebody leads", func() bool {
		leaders = leaders[:0]
		for _, r := range replicas {
			if r.IsLeader() {
				leaders = append(leaders, r)
			}
		}
		return len(leaders) > 0
	})
	if len(leaders) > 1 {
		t.Fatalf("%d leaders", len(leaders))
	}
	return leaders[0]
}

// A6, A11: the lock is somebody else's or gone.
func TestLosesTheTermWhenTheLockIsLost(t *testing.T) {
	for name, fault := range map[string]func(*memServer){
		"stolen":  func(s *memServer) { s.steal(LockKey("", "test"), time.Minute) },
		"deleted": func(s *memServer) { s.delete(LockKey("", "test")) },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", nil).start(t)
				await(t, 0, "a leads", a.IsLeader)
				ctx := a.lastCtx()
				fault(server)
				await(t, testLease/3+time.Millisecond, "the term ends", func() bool { return !a.IsLeader() })
				if cause := context.Cause(ctx); !errors.Is(cause, ErrLost) || !errors.Is(a.lastTerm().Check(), ErrLost) {
					t.Errorf("cause = %v, want ErrLost", cause)
				}
				a.join()
			})
		})
	}
}

// A1: the deadline counts from before the last successful refresh was sent, and holds
// although the call hangs.
func TestEndsTheTermAtTheDeadlineWhileACallHangs(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		acquired := time.Now()
		server.setFault(func(string) memFault { return memFault{before: time.Hour, err: errDown, ignoresContext: true} })
		<-a.lastCtx().Done()
		if took := time.Since(acquired); took != a.timing.deadline {
			t.Errorf("term ended after %v, want %v", took, a.timing.deadline)
		}
		if cause := context.Cause(a.lastCtx()); !errors.Is(cause, ErrExpired) {
			t.Errorf("cause = %v, want ErrExpired", cause)
		}
		server.setFault(nil)
		a.join()
	})
}

// A3: a slow success counts from when it was sent. One that comes after the deadline
// does not count.
func TestDeadlineCountsFromTheSend(t *testing.T) {
	const slow = 90 * time.Millisecond // less than an attempt may take, 111 ms
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		server.setFault(func(string) memFault { return memFault{after: slow} })
		await(t, testLease, "a slow refresh", func() bool { return server.count("refresh") == 1 })
		time.Sleep(slow)
		synctest.Wait()
		if got, want := a.lastTerm().Remaining(), a.timing.deadline-slow; got > want || got < want-5*time.Millisecond {
			t.Errorf("Remaining = %v, want about %v", got, want)
		}
		server.setFault(nil)
		a.join()
	})
}

func TestLateSuccessDoesNotBringTheTermBack(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		ctx := a.lastCtx()
		server.setFault(func(string) memFault { return memFault{after: a.timing.deadline, ignoresContext: true} })
		time.Sleep(a.timing.deadline - time.Millisecond)
		if ctx.Err() != nil {
			t.Fatal("ended early")
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
		if ctx.Err() == nil || a.IsLeader() {
			t.Fatal("the term did not end at the deadline")
		}
		server.setFault(nil)
		time.Sleep(a.timing.deadline)
		if !errors.Is(context.Cause(ctx), ErrExpired) {
			t.Errorf("cause = %v", context.Cause(ctx))
		}
		a.join()
	})
}

// Three attempts fit between the first renewal and the deadline, even if none of them
// is answered.
func TestThreeAttemptsFitBeforeTheDeadline(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		attempts := 0
		server.setFault(func(op string) memFault {
			if op == "refresh" && a.IsLeader() {
				attempts++
				if attempts < attemptsPerDeadline {
					return memFault{before: time.Hour}
				}
			}
			return memFault{}
		})
		time.Sleep(3 * testLease)
		if !a.IsLeader() || attempts < attemptsPerDeadline {
			t.Errorf("leader = %t after %d attempts: the third was to save the term", a.IsLeader(), attempts)
		}
		a.join()
	})
}

// A2, A18: the first look at ctx.Err or Term.Check after a freeze sees the end, before
// any timer or refresh.
func TestFirstLookAfterAFreezeSeesTheEnd(t *testing.T) {
	looks := map[string]func(context.Context, Term) error{
		"ctx.Err":       func(ctx context.Context, _ Term) error { return ctx.Err() },
		"context.Cause": func(ctx context.Context, _ Term) error { return context.Cause(ctx) },
		"Term.Check":    func(_ context.Context, term Term) error { return term.Check() },
		"IsLeader":      nil,
	}
	for name, look := range looks {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", nil).start(t)
				await(t, 0, "a leads", a.IsLeader)
				ctx, term := a.lastCtx(), a.lastTerm()
				a.suspend(a.timing.deadline)
				if look == nil && a.IsLeader() || look != nil && look(ctx, term) == nil {
					t.Fatal("does not see the end")
				}
				if err := context.Cause(ctx); !errors.Is(err, ErrExpired) || !closed(ctx.Done()) || term.Remaining() > 0 {
					t.Errorf("cause = %v, Done closed = %t, Remaining = %v", err, closed(ctx.Done()), term.Remaining())
				}
				a.join()
			})
		})
	}
}

// A4: the lease is renewed, and not released, while the work ignores its context.
func TestKeepsTheLeaseWhileTheWorkDrains(t *testing.T) {
	const overtime = 2 * testLease
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
				<-ctx.Done()
				time.Sleep(overtime)
			}
			cfg.Callbacks.OnStoppedLeading = func() { time.Sleep(testLease) }
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		b := newReplica(t, server, "b", nil).start(t)
		a.stop()
		synctest.Wait()
		if a.IsLeader() {
			t.Error("a still says that it leads")
		}
		waited := await(t, 5*testLease, "b leads", b.IsLeader)
		if waited < overtime+testLease {
			t.Errorf("b led after %v, a's callbacks took %v", waited, overtime+testLease)
		}
		if want := "stopped, lock held=true"; !slices.Contains(a.recorded(), want) {
			t.Errorf("events %q lack %q", a.recorded(), want)
		}
		b.join()
		<-a.done
	})
}

// C2: after a loss the same process does not contend before its old work has returned.
func TestDoesNotContendWhileOldWorkRuns(t *testing.T) {
	const overtime = 3 * testLease
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
				<-ctx.Done()
				time.Sleep(overtime)
			}
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		server.delete(a.key)
		await(t, testLease, "a steps down", func() bool { return !a.IsLeader() })
		if waited := await(t, 2*overtime, "a leads again", a.IsLeader); waited < overtime {
			t.Errorf("led again after %v, while the old work ran for %v", waited, overtime)
		}
		a.join()
	})
}

func TestDrainTimeoutLeavesTheLockToRunOut(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.DrainTimeout = 2 * time.Second
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		stopped := time.Now()
		a.stop()
		<-a.done
		if !errors.Is(a.err, ErrDrainTimeout) || time.Since(stopped) != 2*time.Second {
			t.Errorf("Run = %v after %v, want ErrDrainTimeout after 2s", a.err, time.Since(stopped))
		}
		if !a.holds() || server.count("release") != 0 {
			t.Error("the lock was released while the work ran")
		}
		if err := a.Run(t.Context()); !errors.Is(err, ErrAlreadyRunning) {
			t.Errorf("Run = %v while the old work runs, want ErrAlreadyRunning", err)
		}
		close(finish)
		synctest.Wait()
		if n := a.countEvents("stopped, lock held=true"); n != 1 {
			t.Errorf("OnStoppedLeading ran %d times after the work returned, want once", n)
		}
		time.Sleep(testLease)
		if a.holds() {
			t.Error("the lock did not run out")
		}
	})
}

// B4, B5: work that returns early ends the term. If it keeps returning at once, it is
// started less and less often.
func TestEarlyReturnReleasesAndBacksOff(t *testing.T) {
	testBackOff(t, func(context.Context, Term) {})
}

func testBackOff(t *testing.T, work func(context.Context, Term)) {
	t.Helper()
	bubble(t, func(t *testing.T, server *memServer) {
		var starts []time.Time
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
				starts = append(starts, time.Now())
				work(ctx, term)
			}
		}).start(t)
		time.Sleep(time.Minute)
		a.join()
		for i := 2; i < min(5, len(starts)); i++ {
			if now, before := starts[i].Sub(starts[i-1]), starts[i-1].Sub(starts[i-2]); now < before*3/2 {
				t.Errorf("pause %d was %v after %v, want about twice as long", i, now, before)
			}
		}
		if len(starts) < 10 || len(starts) > 60*1000/int(2*testLease/time.Millisecond)+6 {
			t.Errorf("%d terms in a minute: want a rate that falls to one in 2 leases, and no further", len(starts))
		}
		if server.count("release") != len(starts) {
			t.Errorf("%d releases for %d terms", server.count("release"), len(starts))
		}
	})
}

func TestPanicInACallbackEndsTheTermAndContinuesFromRun(t *testing.T) {
	boom := errors.New("boom")
	for name, change := range map[string]func(*Callbacks){
		"OnStartedLeading": func(c *Callbacks) { c.OnStartedLeading = func(context.Context, Term) { panic(boom) } },
		"OnStoppedLeading": func(c *Callbacks) {
			c.OnStartedLeading = func(context.Context, Term) {}
			c.OnStoppedLeading = func() { panic(boom) }
		},
		"OnNewLeader": func(c *Callbacks) { c.OnNewLeader = func(string) { panic(boom) } },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", func(cfg *Config, _ *replica) { change(&cfg.Callbacks) }).start(t)
				<-a.done
				if a.panic != boom {
					t.Errorf("Run panicked with %v, want the callback's value", a.panic)
				}
				if a.holds() || a.IsLeader() {
					t.Error("the lock was not released")
				}
				starts, stops := a.countEvents("started"), a.countEvents("stopped, lock held=true")
				if starts != stops {
					t.Errorf("%d starts, %d stops", starts, stops)
				}
			})
		})
	}
}

func TestGoexitInTheWorkEndsTheTerm(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { runtime.Goexit() }
		}).start(t)
		synctest.Wait()
		if n := a.countEvents("stopped, lock held=true"); n != 1 || a.holds() {
			t.Errorf("%d stops, lock held = %t", n, a.holds())
		}
		a.join()
	})
}

// B6: callbacks that block do not delay renewal.
func TestBlockedCallbacksDoNotDelayRenewal(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		unblock := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-unblock }
			cfg.Callbacks.OnNewLeader = func(string) { <-unblock }
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		for range 100 {
			time.Sleep(testLease / 10)
			if !a.IsLeader() {
				t.Fatal("lost the term")
			}
		}
		close(unblock)
		a.join()
	})
}

// C6: in order, the last one delivered, nothing twice in a row, no "".
func TestOnNewLeaderIsOrderedAndCoalesces(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var mu sync.Mutex
		var calls []string
		watcher := newReplica(t, server, "watcher", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnNewLeader = func(identity string) {
				mu.Lock()
				calls = append(calls, identity)
				mu.Unlock()
				time.Sleep(50 * time.Millisecond)
			}
		})
		for i := range 100 {
			watcher.notifier.notify(fmt.Sprintf("leader-%03d", i/2))
			watcher.notifier.notify("")
			time.Sleep(20 * time.Millisecond)
		}
		if err := watcher.notifier.join(time.Minute); err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(calls) || len(slices.Compact(slices.Clone(calls))) != len(calls) || slices.Contains(calls, "") {
			t.Errorf("calls %q are not in order and distinct", calls)
		}
		if len(calls) < 10 || calls[len(calls)-1] != "leader-049" {
			t.Errorf("%d calls, the last %q", len(calls), calls[len(calls)-1])
		}
	})
}

func TestFollowersLearnWhoLeads(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var mu sync.Mutex
		var calls []string
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) { cfg.Metadata = map[string]string{"zone": "z1"} }).start(t)
		await(t, 0, "a leads", a.IsLeader)
		b := newReplica(t, server, "b", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnNewLeader = func(identity string) { mu.Lock(); calls = append(calls, identity); mu.Unlock() }
		}).start(t)
		await(t, time.Second, "b knows", func() bool { return b.GetLeader() == "a" })
		if leader, ok := b.Leader(); !ok || leader.FenceToken != a.lastTerm().FenceToken() || leader.Metadata["zone"] != "z1" {
			t.Errorf("Leader = %+v, %t", leader, ok)
		}
		a.join()
		await(t, testLease, "b leads", b.IsLeader)
		synctest.Wait()
		if want := []string{"a", "b"}; !reflect.DeepEqual(calls, want) || b.GetLeader() != "b" {
			t.Errorf("OnNewLeader calls %q, want %q", calls, want)
		}
		b.join()
		if b.GetLeader() != "" {
			t.Errorf("GetLeader = %q after everybody left", b.GetLeader())
		}
	})
}

// C8: a candidate that has resigned stays out long enough for another to lead, and
// comes back if there is none.
func TestResign(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil)
		if err := a.Resign(t.Context()); err != nil {
			t.Errorf("Resign without the lock = %v", err)
		}
		a.start(t)
		await(t, 0, "a leads", a.IsLeader)
		ctx := a.lastCtx()
		if err := a.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		if a.IsLeader() || a.holds() || !errors.Is(context.Cause(ctx), ErrResigned) {
			t.Errorf("after Resign: leader %t, holds %t, cause %v", a.IsLeader(), a.holds(), context.Cause(ctx))
		}
		if alone := await(t, 4*a.timing.retry, "a leads again, being alone", a.IsLeader); alone < a.timing.retry {
			t.Errorf("came back after %v", alone)
		}
		b := newReplica(t, server, "b", nil).start(t)
		synctest.Wait()
		if err := a.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
		await(t, 2*a.timing.retry, "b leads", b.IsLeader)
		a.join()
		b.join()
	})
}

func TestFenceFloorRaisesTheToken(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		asked := 0
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) {
			cfg.FenceFloor = func(ctx context.Context) (int64, error) {
				asked++
				time.Sleep(testLease * 9 / 10) // more than RenewDeadline: renewed meanwhile
				if r.IsLeader() || ctx.Err() != nil {
					t.Errorf("while asking: leader %t, ctx %v", r.IsLeader(), ctx.Err())
				}
				return 41, nil
			}
		}).start(t)
		await(t, 3*testLease, "a leads", a.IsLeader)
		if fence := a.lastTerm().FenceToken(); fence != 42 || asked != 1 || !a.holds() {
			t.Errorf("fencing token %d after %d calls", fence, asked)
		}
		time.Sleep(2 * testLease)
		if !a.IsLeader() {
			t.Error("the raised term is not renewed")
		}
		a.join()
	})
}

func TestFailingFenceFloorKeepsTheWorkFromStarting(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { return 0, errors.New("no resource") }
		}).start(t)
		time.Sleep(time.Minute)
		if len(a.recorded()) != 0 || a.holds() {
			t.Errorf("events %q", a.recorded())
		}
		if got := server.count("obtain"); got < 5 || got > 60 {
			t.Errorf("%d attempts in a minute, want a falling rate", got)
		}
		a.join()
	})
}

func TestRunTwice(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		if err := a.Run(t.Context()); !errors.Is(err, ErrAlreadyRunning) {
			t.Errorf("second Run = %v, want ErrAlreadyRunning", err)
		}
		a.join()
		a.done = make(chan struct{})
		a.start(t)
		await(t, 0, "a leads in its second Run", a.IsLeader)
		a.join()
	})
}

// C1: whenever Run is cancelled, OnStoppedLeading has been called as often as
// OnStartedLeading.
func TestStartsEqualStopsWheneverCancelled(t *testing.T) {
	for step := range 40 {
		bubble(t, func(t *testing.T, server *memServer) {
			server.setFault(func(string) memFault { return memFault{before: 5 * time.Millisecond, after: 5 * time.Millisecond} })
			a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
				cfg.FenceFloor = func(context.Context) (int64, error) { time.Sleep(5 * time.Millisecond); return 7, nil }
			}).start(t)
			time.Sleep(time.Duration(step) * time.Millisecond)
			if err := a.join(); err != nil {
				t.Error(err)
			}
			if starts, stops := a.countEvents("started"), a.countEvents("stopped, lock held=true"); starts != stops {
				t.Errorf("cancelled after %d ms: %d starts, %d stops", step, starts, stops)
			}
			if a.holds() {
				t.Errorf("cancelled after %d ms: the lock is left", step)
			}
		})
	}
}

// B1, B2: it goes on competing after every outage.
func TestRecontendsAfterEachOutage(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		b := newReplica(t, server, "b", nil).start(t)
		for range 10 {
			awaitOneLeader(t, []*replica{a, b})
			server.setFault(func(string) memFault { return memFault{err: errDown} })
			time.Sleep(3 * testLease)
			if a.IsLeader() || b.IsLeader() {
				t.Fatal("leads without Redis")
			}
			server.setFault(nil)
			recovered := await(t, a.timing.retry*6/5+time.Millisecond, "somebody leads again", func() bool { return a.IsLeader() || b.IsLeader() })
			t.Log("led again after", recovered)
		}
		a.join()
		b.join()
	})
}

func TestFollowerTakesOverWhenTheLeaseRunsOut(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.steal(LockKey("", "test"), 333*time.Millisecond)
		a := newReplica(t, server, "a", nil).start(t)
		if took := await(t, time.Second, "a leads", a.IsLeader); took > 333*time.Millisecond+time.Millisecond+expirySpread+time.Millisecond {
			t.Errorf("took over %v after a lease of 333 ms began", took)
		}
		a.join()
	})
}

// A candidate that is stopped while it asks for the lock does not begin a term, even if
// it is given the lock.
func TestStoppedWhileTheLockIsObtainedNeverBegins(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.setFault(func(op string) memFault {
			if op == "obtain" {
				return memFault{after: 10 * time.Millisecond, ignoresContext: true}
			}
			return memFault{}
		})
		a := newReplica(t, server, "a", nil).start(t)
		time.Sleep(5 * time.Millisecond)
		if err := a.join(); err != nil {
			t.Error(err)
		}
		if events := a.recorded(); len(events) != 0 || a.holds() {
			t.Errorf("events %q, lock held=%t", events, a.holds())
		}
	})
}
