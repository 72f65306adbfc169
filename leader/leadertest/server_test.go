package leadertest_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leaderhttp"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/redislock"
)

func TestExample(t *testing.T) { testElection(t) }

// candidate is an elector that runs in a bubble until the test, and so its bubble, ends.
type candidate struct {
	*leader.Elector
	stop  func()     // and wait
	ended chan error // the cause of the end of each term
}

func run(t *testing.T, locker *redislock.Client, identity string) candidate {
	t.Helper()
	ended := make(chan error, 100)
	e, err := leader.New(locker, leader.Config{
		Name: "test", Identity: identity, Logger: logr.FromSlogHandler(slog.DiscardHandler),
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, term leader.Term) {
			<-ctx.Done()
			ended <- term.Check()
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	stop := func() { cancel(); group.Wait() }
	t.Cleanup(stop)
	synctest.Wait()
	return candidate{e, stop, ended}
}

var lockKey = leader.LockKey("", "test")

// The default timings.
const (
	lease    = 15 * time.Second
	deadline = 10 * time.Second
	retry    = 2400 * time.Millisecond // RetryPeriod with all of its jitter
)

// bubble runs a test with a candidate that leads.
func bubble(t *testing.T, test func(t *testing.T, server *leadertest.Server, a candidate)) {
	synctest.Test(t, func(t *testing.T) {
		server := leadertest.NewServer()
		a := run(t, redislock.New(server), "a")
		if !a.IsLeader() {
			t.Fatal("the only candidate does not lead")
		}
		test(t, server, a)
	})
}

func TestLeaderRenewsForHours(t *testing.T) {
	bubble(t, func(t *testing.T, _ *leadertest.Server, a candidate) {
		first, _ := a.Term()
		time.Sleep(6 * time.Hour)
		if now, ok := a.Term(); !ok || now != first {
			t.Errorf("the term has ended: %v", first.Check())
		}
	})
}

func TestHandOverTakesUpToRetryPeriod(t *testing.T) {
	bubble(t, func(t *testing.T, server *leadertest.Server, a candidate) {
		before, _ := a.Term()
		b := run(t, redislock.New(server), "b")
		if b.GetLeader() != "a" {
			t.Errorf("b sees %q lead", b.GetLeader())
		}
		a.stop()
		time.Sleep(retry)
		synctest.Wait()
		if after, ok := b.Term(); !ok || after.FenceToken() <= before.FenceToken() {
			t.Errorf("b leads %t, with token %d after %d", ok, after.FenceToken(), before.FenceToken())
		}
	})
}

func TestTermIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(*leadertest.Server)
		next time.Duration // until it leads again
	}{
		"taken":   {func(s *leadertest.Server) { s.Take(lockKey, time.Minute) }, time.Minute + retry},
		"deleted": {func(s *leadertest.Server) { s.Delete(lockKey) }, retry},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *leadertest.Server, a candidate) {
				before, _ := a.Term()
				c.lose(server)
				lost := time.Now()
				if err := <-a.ended; !errors.Is(err, leader.ErrLost) || time.Since(lost) > lease/3 {
					t.Errorf("after %v: %v", time.Since(lost), err)
				}
				time.Sleep(c.next)
				synctest.Wait()
				if after, ok := a.Term(); !ok || after.FenceToken() <= before.FenceToken() {
					t.Errorf("leads again %t, with token %d after %d", ok, after.FenceToken(), before.FenceToken())
				}
			})
		})
	}
}

func TestTermExpires(t *testing.T) {
	bubble(t, func(t *testing.T, server *leadertest.Server, a candidate) {
		server.Fail(errors.New("connection refused"))
		failed := time.Now()
		if err := <-a.ended; !errors.Is(err, leader.ErrExpired) || time.Since(failed) > deadline {
			t.Errorf("after %v: %v", time.Since(failed), err)
		}
		time.Sleep(time.Minute)
		if a.IsLeader() {
			t.Error("leads without Redis")
		}
		server.Fail(nil)
		time.Sleep(retry)
		synctest.Wait()
		if !a.IsLeader() {
			t.Error("does not lead when Redis is back")
		}
	})
}

func TestLeaderResigns(t *testing.T) {
	for name, resign := range map[string]func(context.Context, *redislock.Client, candidate) error{
		"itself": func(ctx context.Context, _ *redislock.Client, a candidate) error { return a.Resign(ctx) },
		"from elsewhere": func(ctx context.Context, locker *redislock.Client, a candidate) error {
			term, _ := a.Term()
			return leader.RequestResign(ctx, locker, lockKey, term.FenceToken())
		},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *leadertest.Server, a candidate) {
				b := run(t, redislock.New(server), "b")
				if err := resign(t.Context(), redislock.New(server), a); err != nil {
					t.Fatal(err)
				}
				if err := <-a.ended; !errors.Is(err, leader.ErrResigned) {
					t.Error(err)
				}
				time.Sleep(retry)
				synctest.Wait()
				if !b.IsLeader() || a.IsLeader() {
					t.Errorf("a leads %t, b leads %t", a.IsLeader(), b.IsLeader())
				}
			})
		})
	}
}

func TestProbesSayWhoLeads(t *testing.T) {
	bubble(t, func(t *testing.T, server *leadertest.Server, a candidate) {
		b := run(t, redislock.New(server), "b")
		probe := func(c candidate) int {
			synctest.Wait()
			reply := httptest.NewRecorder()
			leaderhttp.LeaderHandler(c.Elector).ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/leader", nil))
			return reply.Code
		}
		if probe(a) != http.StatusOK || probe(b) != http.StatusServiceUnavailable {
			t.Errorf("a leads: %d %d", probe(a), probe(b))
		}
		server.Take(lockKey, time.Minute)
		time.Sleep(lease / 3)
		if probe(a) != http.StatusServiceUnavailable || probe(b) != http.StatusServiceUnavailable {
			t.Errorf("somebody else leads: %d %d", probe(a), probe(b))
		}
		server.Delete(lockKey)
		time.Sleep(retry)
		if probe(a)+probe(b) != http.StatusOK+http.StatusServiceUnavailable {
			t.Errorf("one of them leads: %d %d", probe(a), probe(b))
		}
	})
}

func TestHolder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := leadertest.NewServer()
		if h, ok := server.Holder(lockKey); ok {
			t.Errorf("at first %+v", h)
		}
		lock, err := redislock.Obtain(t.Context(), server, lockKey, time.Minute, &redislock.Options{Metadata: "m", FenceKey: "counter"})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		if h, ok := server.Holder(lockKey); !ok || h != (redislock.Holder{Metadata: "m", FenceToken: 1, TTL: 59 * time.Second}) {
			t.Errorf("%+v %t", h, ok)
		}
		if h, ok := server.Holder("counter"); !ok || h != (redislock.Holder{Metadata: "string", TTL: -time.Millisecond, Foreign: true}) {
			t.Errorf("a counter: %+v %t", h, ok)
		}
		server.Take(lockKey, time.Hour)
		if h, ok := server.Holder(lockKey); !ok || h.Metadata != "somebody else" || h.FenceToken != time.Now().UnixMicro() || h.TTL != time.Hour || h.Foreign {
			t.Errorf("taken: %+v %t", h, ok)
		}
		if err := lock.Release(t.Context()); !errors.Is(err, redislock.ErrLockNotHeld) {
			t.Errorf("Release = %v", err)
		}
		time.Sleep(time.Hour + 2*time.Millisecond)
		if h, ok := server.Holder(lockKey); ok {
			t.Errorf("at last %+v", h)
		}
	})
}

func TestCommandsFail(t *testing.T) {
	server := leadertest.NewServer()
	locker := redislock.New(server)
	lock, err := locker.Obtain(t.Context(), "a", time.Minute, nil)
	if err != nil {
		t.Fatal(err)
	}
	down := errors.New("down")
	server.Fail(down)
	calls := map[string]func(context.Context) error{
		"Obtain":         func(ctx context.Context) error { _, err := locker.Obtain(ctx, "b", time.Minute, nil); return err },
		"Refresh":        func(ctx context.Context) error { return lock.Refresh(ctx, time.Hour, nil) },
		"TTL":            func(ctx context.Context) error { _, err := lock.TTL(ctx); return err },
		"RequestRelease": func(ctx context.Context) error { return locker.RequestRelease(ctx, "a", 0) },
		"ScriptLoad":     func(ctx context.Context) error { return server.ScriptLoad(ctx, "").Err() },
		"ScriptExists":   func(ctx context.Context) error { return server.ScriptExists(ctx, "").Err() },
		"Eval":           func(ctx context.Context) error { return server.Eval(ctx, "", nil).Err() },
	}
	for name, call := range calls {
		if err := call(t.Context()); !errors.Is(err, down) {
			t.Errorf("%s = %v", name, err)
		}
	}
	server.Fail(nil)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls {
		if err := call(ended); !errors.Is(err, context.Canceled) {
			t.Errorf("%s in a context that has ended = %v", name, err)
		}
	}
	if _, ok := server.Holder("b"); ok {
		t.Error("a command that failed was applied")
	}
	if err := lock.Refresh(t.Context(), time.Minute, nil); err != nil {
		t.Error(err)
	}
}

// For the race detector, and because a stand-in must not have two holders either.
func TestManyContend(t *testing.T) {
	locker := redislock.New(leadertest.NewServer())
	var holders, turns atomic.Int64
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for turns.Load() < 200 {
				lock, err := locker.Obtain(t.Context(), "a", time.Minute, &redislock.Options{FenceKey: "counter"})
				if err != nil {
					continue
				}
				if n, turn := holders.Add(1), turns.Add(1); n != 1 || lock.FenceToken() != turn {
					t.Errorf("%d holders, token %d in turn %d", n, lock.FenceToken(), turn)
				}
				holders.Add(-1)
				if err := lock.Release(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
