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

	"github.com/redisleader/redisleader/redislock"
)

// The contract of the API and the life cycle, cases C1 to C13. C9, C10 and C11 are
// about the lock alone. C4 is in config_test.go.

func TestC1_StartsEqualStops(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	env.proxy.Delay(2 * time.Millisecond)
	client := env.client(env.proxy.Addr())
	for step := range 40 {
		var starts, stops int
		cfg := Config{Name: "test", Logger: silent, Callbacks: Callbacks{
			OnStartedLeading: func(ctx context.Context, _ Term) { starts++; <-ctx.Done() },
			OnStoppedLeading: func() { stops++ },
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(step)*500*time.Microsecond)
		if err := Run(ctx, redislock.New(client), cfg); err != nil || starts != stops {
			t.Errorf("step %d: Run = %v, %d starts, %d stops", step, err, starts, stops)
		}
		cancel()
	}
	env.proxy.Heal()
	env.lead(env.beside("leader", nil))
	follower := env.start(env.behind("follower", nil))
	env.await("it follows", func() bool { return follower.GetLeader() == "leader" })
	if err := follower.join(); err != nil || follower.starts()+follower.stops() != 0 {
		t.Errorf("follower: Run = %v, %d starts, %d stops", err, follower.starts(), follower.stops())
	}
}

func TestC2_DoesNotContendWhileOldWorkRuns(t *testing.T) {
	t.Parallel()
	const lease = 500 * time.Millisecond
	env := newEnvironment(t)
	obtain := readScript(t, "obtain")
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = lease
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(3 * lease) }
	}))
	ctx := a.lastCtx()
	env.do("DEL", env.key)
	env.done(ctx)
	env.proxy.ResetCommands()
	env.await("the work has returned", func() bool { return a.countEvents("returned") == 1 })
	if n := len(env.calls(obtain)); n > 1 || a.starts() != 1 { // one may follow at once
		t.Errorf("%d attempts to obtain the lock while the old work ran, %d starts", n, a.starts())
	}
	env.await("a leads again", func() bool { return a.starts() == 2 })
	if events := a.recorded(); slices.Index(events, "stopped, lock held=false") > slices.Index(events[4:], "started")+4 {
		t.Errorf("events %q", events)
	}
}

func TestC3_CauseOfEachEnding(t *testing.T) {
	errShutdown := errors.New("shutdown")
	for name, c := range map[string]struct {
		end    func(*memServer, *replica, context.CancelCauseFunc)
		want   error
		reason EndReason
	}{
		"Stolen":  {func(s *memServer, r *replica, _ context.CancelCauseFunc) { s.steal(r.key, time.Minute) }, ErrLost, EndedLost},
		"Deleted": {func(s *memServer, r *replica, _ context.CancelCauseFunc) { s.delete(r.key) }, ErrLost, EndedLost},
		"Outage": {func(s *memServer, _ *replica, _ context.CancelCauseFunc) {
			s.setFault(func(string) memFault { return memFault{err: errDown} })
		}, ErrExpired, EndedExpired},
		"Frozen":            {func(_ *memServer, r *replica, _ context.CancelCauseFunc) { r.suspend(testLease) }, ErrExpired, EndedExpired},
		"Resigned":          {func(_ *memServer, r *replica, _ context.CancelCauseFunc) { _ = r.Resign(r.lastCtx()) }, ErrResigned, EndedResigned},
		"Stopped":           {func(_ *memServer, _ *replica, end context.CancelCauseFunc) { end(nil) }, context.Canceled, EndedStopped},
		"StoppedWithACause": {func(_ *memServer, _ *replica, end context.CancelCauseFunc) { end(errShutdown) }, errShutdown, EndedStopped},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", nil)
				ctx, end := context.WithCancelCause(t.Context())
				go func() { defer close(a.done); a.err = a.Run(ctx) }()
				await(t, 0, "a leads", a.atWork)
				work, term := a.lastCtx(), a.lastTerm()
				derived, cancel := context.WithCancel(work)
				defer cancel()
				c.end(server, a, end)
				await(t, testLease, "the term ends", func() bool { return closed(work.Done()) })
				for what, got := range map[string]error{
					"context.Cause":              context.Cause(work),
					"context.Cause of a derived": context.Cause(derived),
					"Term.Check":                 term.Check(),
				} {
					if !errors.Is(got, c.want) {
						t.Errorf("%s = %v, want %v", what, got, c.want)
					}
				}
				if work.Err() != context.Canceled || derived.Err() != context.Canceled {
					t.Errorf("Err = %v, of a derived one %v", work.Err(), derived.Err())
				}
				await(t, testLease, "the callbacks end", func() bool { return a.stops() == 1 })
				if want := fmt.Sprintf("ended %s leader=false ctx=", c.reason); !slices.ContainsFunc(a.recorded(), func(e string) bool {
					return len(e) > len(want) && e[:len(want)] == want
				}) {
					t.Errorf("events %q lack %q", a.recorded(), want)
				}
				server.setFault(nil)
				end(nil)
				<-a.done
				if a.err != nil {
					t.Errorf("Run = %v, want nil after a requested stop", a.err)
				}
			})
		})
	}
}

func TestC5_RunTwice(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	a := env.lead(env.behind("a", nil))
	if err := a.Run(t.Context()); err != ErrAlreadyRunning {
		t.Errorf("second Run = %v", err)
	}
	if err := a.join(); err != nil {
		t.Error(err)
	}
	first := a.lastTerm()
	a.done = make(chan struct{})
	env.start(a)
	env.await("a leads in its second Run", func() bool { return a.atWork() && a.lastTerm() != first })
	if err := a.join(); err != nil || a.starts() != 2 || a.stops() != 2 {
		t.Errorf("Run = %v, %d starts, %d stops", err, a.starts(), a.stops())
	}
}

func TestC6_OnNewLeaderInOrder(t *testing.T) {
	t.Parallel()
	const transitions = 100
	env := newEnvironment(t)
	var mu sync.Mutex
	var calls []string
	// And never runs out.
	env.do("HSET", env.key, "token", "0", "metadata", "leader-000", "fence", 1)
	watcher := env.start(env.behind("watcher", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 100 * time.Millisecond // so that it tries often
		cfg.Callbacks.OnNewLeader = func(identity string) {
			mu.Lock()
			calls = append(calls, identity)
			mu.Unlock()
			time.Sleep(50 * time.Millisecond)
		}
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { t.Error("the watcher leads") }
	}))
	env.await("the watcher has had its first look", func() bool { return watcher.GetLeader() == "leader-000" })
	for i := range transitions {
		env.do("HSET", env.key, "token", i, "metadata", fmt.Sprintf("leader-%03d", i), "fence", i+1)
		time.Sleep(20 * time.Millisecond)
	}
	last := fmt.Sprintf("leader-%03d", transitions-1)
	env.await("the last one is delivered", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(calls) > 0 && calls[len(calls)-1] == last
	})
	watcher.join()
	if len(calls) < 10 || !slices.IsSorted(calls) || len(slices.Compact(slices.Clone(calls))) != len(calls) || slices.Contains(calls, "") {
		t.Errorf("calls %q", calls)
	}
}

// For the race detector.
func TestC7_GettersUnderChurn(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	quick := func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 300 * time.Millisecond
		cfg.Metadata = map[string]string{"zone": "z1"}
	}
	a, b := env.lead(env.behind("a", quick)), env.start(env.behind("b", quick))
	ctx, cancel := context.WithTimeout(t.Context(), testLease)
	defer cancel()
	var getters sync.WaitGroup
	for _, r := range []*replica{a, b} {
		getters.Go(func() {
			for ctx.Err() == nil {
				if term, ok := r.Term(); ok {
					_, _, _ = term.Check(), term.Remaining(), term.StartedAt()
					_, _, _ = term.FenceToken(), term.Identity(), term.Name()
				}
				if work := r.lastCtx(); work != nil {
					_, _ = work.Err(), context.Cause(work)
				}
				r.IsLeader()
				r.GetLeader()
				if leader, ok := r.Leader(); ok && leader.Metadata["zone"] != "z1" {
					t.Errorf("Leader = %+v", leader)
				}
				_ = r.Check(time.Hour)
				for _, past := range r.Status().LastTerms {
					if past.FenceToken == 0 || past.StartedAt.IsZero() || past.Reason == "" {
						t.Errorf("past term %+v", past)
					}
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
		getters.Go(func() {
			for ctx.Err() == nil {
				_ = r.Resign(ctx)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	getters.Wait()
	if a.starts()+b.starts() < 3 {
		t.Errorf("%d terms are no churn", a.starts()+b.starts())
	}
}

func TestC8_ResignerStaysOut(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	a := env.lead(env.behind("a", nil))
	b := env.start(env.behind("b", nil))
	env.await("b follows", func() bool { return b.GetLeader() == "a" })
	if err := a.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	resigned := time.Now()
	env.await("b leads", b.atWork)
	env.await("a looks again", func() bool { return a.GetLeader() == "b" })
	if out := time.Since(resigned); out < a.timing.retry || a.starts() != 1 {
		t.Errorf("a was back after %v with %d starts, RetryPeriod is %v", out, a.starts(), a.timing.retry)
	}
	b.join()
	env.await("a leads, being alone", a.atWork)
	if err := a.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	env.await("a leads again, being alone", a.atWork)
}

// What a metric of leadership is computed from.
func TestC12_IsLeaderIsRightAtAllTimes(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil)
		b := newReplica(t, server, "b", nil)
		leaders := func(want string) {
			t.Helper()
			synctest.Wait()
			got := ""
			for _, r := range []*replica{a, b} {
				if _, leads := r.Term(); leads != r.IsLeader() {
					t.Errorf("%s: Term and IsLeader differ", r.cfg.Identity)
				}
				if r.IsLeader() {
					got += r.cfg.Identity
				}
			}
			if got != want {
				t.Errorf("%q leads, want %q", got, want)
			}
		}
		leaders("")
		a.start(t)
		leaders("a")
		b.start(t)
		time.Sleep(time.Second)
		leaders("a")
		a.suspend(testLease) // frozen: no timer of a has fired
		leaders("")
		await(t, 2*testLease, "somebody leads", func() bool { return a.IsLeader() || b.IsLeader() })
		a.join()
		await(t, 2*testLease, "b leads", b.IsLeader)
		leaders("b")
		b.join()
		leaders("")
	})
}

func TestC13_NamesDoNotCollide(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t, "--cluster-enabled", "yes")
	env.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383)
	env.clusterUp()
	var log logLines
	names := []string{"a", "{a}", "a}", "{a", "a{b}", "%7Ba%7D", "{}", "a:fence"}
	for _, name := range names {
		named := func(cfg *Config, _ *replica) { cfg.Name = name }
		r := env.lead(env.beside("leader", named)) // all of them at once
		if lock, fence := env.do("CLUSTER", "KEYSLOT", r.key), env.do("CLUSTER", "KEYSLOT", FenceKey("", name)); lock != fence {
			t.Errorf("%q: lock in slot %v, fence in %v", name, lock, fence)
		}
	}
	follower := env.start(env.behind("follower", func(cfg *Config, _ *replica) { cfg.Name, cfg.Logger = "{a}", log.logger(0) }))
	env.await("it follows", func() bool { return follower.GetLeader() == "leader" })
	time.Sleep(3 * follower.timing.retry)
	if lines := log.with(`"leader"="leader"`, `"name"="{a}"`); len(lines) != 1 || len(log.all()) != 1 {
		t.Errorf("the follower logged %q", log.all())
	}
}
