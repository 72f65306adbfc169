package leader

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/redislock"
)

// The cases of group A, two leaders or a leader that does not know, over a real server.
// A2, A13, A14 and A18 need several processes or servers and are shown elsewhere; A15
// is about the lock alone.

func TestA1_HungRequestOutlivesTheLease(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var seen *tally
	a := s.lead(s.behind("a", func(cfg *Config, r *replica) { seen = newTally(r); cfg.Observer = seen }, patient))
	var endedBefore atomic.Bool
	b := s.start(s.beside("b", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
			endedBefore.Store(closed(a.lastCtx().Done()) && !a.IsLeader())
			<-ctx.Done()
		}
	}))
	s.proxy.Hole()
	answered := seen.renewed(succeeded) + seen.renewed(failed)
	if cause := s.done(a.lastCtx()); !errors.Is(cause, ErrExpired) {
		t.Errorf("a's cause = %v", cause)
	}
	s.await("b leads", b.atWork)
	if now := seen.renewed(succeeded) + seen.renewed(failed); now > answered+1 { // one may have been on its way
		t.Errorf("%d calls were answered in the hole", now-answered)
	}
	s.proxy.Heal()
	if b.join(); !endedBefore.Load() {
		t.Error("b started before a's ctx was done")
	}
}

// The deadline counts from the send. An answer that takes half a lease counts for that
// much less, and one that comes after the deadline, although Redis has extended the
// key, does not bring the term back.
func TestA3_LateSuccess(t *testing.T) {
	for name, c := range map[string]struct {
		delay time.Duration
		lasts bool
	}{
		"HalfALease": {testLease / 2, true},
		"0.8Leases":  {testLease * 8 / 10, false},
		"1.2Leases":  {testLease * 12 / 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.do("SCRIPT", "LOAD", readScript(t, "refresh").source) // or the first renewal takes two round trips
			var seen *tally
			a := s.lead(s.behind("a", func(cfg *Config, r *replica) {
				cfg.RenewDeadline = testLease * 95 / 100
				seen = newTally(r)
				cfg.Observer = seen
			}, patient))
			ctx, term := a.lastCtx(), a.lastTerm()
			s.proxy.Delay(c.delay)
			if c.lasts {
				s.await("a late renewal", func() bool { return seen.renewed(succeeded) > 0 })
				for range 300 {
					if left, most := term.Remaining(), a.timing.deadline-c.delay; left > most || left <= 0 {
						t.Fatalf("Remaining = %v, want up to %v", left, most)
					}
					time.Sleep(time.Millisecond)
				}
				return
			}
			if cause := s.done(ctx); !errors.Is(cause, ErrExpired) {
				t.Errorf("cause = %v", cause)
			}
			if took := time.Since(term.StartedAt()); took > a.timing.deadline+testLease/10 {
				t.Errorf("the term ended after %v, its deadline was %v", took, a.timing.deadline)
			}
			if s.do("PTTL", s.key).(int64) < 1 {
				t.Error("Redis has not extended the key: the fault was not injected")
			}
		})
	}
}

func TestA4_ReleasedOnlyAfterTheWorkReturned(t *testing.T) {
	t.Parallel()
	const lease = testLease / 2
	s := newScene(t)
	refresh := readScript(t, "refresh")
	var returned time.Time
	a := s.lead(s.behind("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = lease
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
			<-ctx.Done()
			time.Sleep(2 * lease)
			returned = time.Now()
		}
	}))
	var started time.Time
	b := s.start(s.beside("b", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = lease
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { started = time.Now(); <-ctx.Done() }
	}))
	s.proxy.ResetCommands()
	if err := a.join(); err != nil {
		t.Error(err)
	}
	if kept := len(s.calls(refresh)); kept < 4 {
		t.Errorf("%d renewals during two leases of draining", kept)
	}
	s.await("b leads", b.atWork)
	if b.join(); !started.After(returned) {
		t.Errorf("b started %v before a's work returned", returned.Sub(started))
	}
}

func TestA5_WorkIsCancelledBeforeTheFirstRelease(t *testing.T) {
	for name, stop := range map[string]func(*replica){
		"Stopped": func(a *replica) { a.stop() },
		"Expired": func(*replica) {},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			release := readScript(t, "release")
			var cancelled, returned time.Time
			a := s.lead(s.behind("a", func(cfg *Config, _ *replica) {
				cfg.LeaseDuration = testLease / 2
				cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
					<-ctx.Done()
					cancelled = time.Now()
					time.Sleep(20 * time.Millisecond)
					returned = time.Now()
				}
			}))
			s.proxy.OnCommand(swallowScripts)
			stop(a)
			s.await("a release on the wire", func() bool { return len(s.calls(release)) > 0 })
			first := s.calls(release)[0].At
			s.proxy.Heal()
			if a.join(); !cancelled.Before(first) || !returned.Before(first) {
				t.Errorf("released %v after the cancellation, %v after the work returned", first.Sub(cancelled), first.Sub(returned))
			}
		})
	}
}

// swallowScripts is a black hole for what an elector sends, but lets new connections be
// set up, so that it is sent at all.
func swallowScripts(c faultproxy.Command) faultproxy.Action {
	if c.IsScript() {
		return faultproxy.Swallow
	}
	return faultproxy.Pass
}

func TestA6_IntruderInTheKey(t *testing.T) {
	for name, c := range map[string]struct {
		intrude, look []any // but for the key
		want          string
	}{
		"String":     {[]any{"SET", "", "intruder", "PX", 60000}, []any{"GET", ""}, "intruder"},
		"OtherToken": {[]any{"HSET", "", "token", "intruder"}, []any{"HGET", "", "token"}, "intruder"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			a := s.lead(s.behind("a", nil))
			ctx := a.lastCtx()
			c.intrude[1], c.look[1] = s.key, s.key
			s.do(c.intrude...)
			begin := time.Now()
			if cause := s.done(ctx); !errors.Is(cause, ErrLost) || a.IsLeader() {
				t.Errorf("cause = %v, leader = %t", cause, a.IsLeader())
			}
			if took := time.Since(begin); took > testLease/3+testLease/5 {
				t.Errorf("a knew after %v, want a third of %v", took, testLease)
			}
			s.do("PERSIST", s.key) // or it would run out, and be vacant then
			time.Sleep(3 * a.timing.retry)
			if got := s.do(c.look...); got != c.want || a.starts() != 1 {
				t.Errorf("the key holds %v, a has started %d times", got, a.starts())
			}
		})
	}
}

// An error is not a success: neither of a call that was applied nor of one that was not.
func TestA7_NoStartWithoutAnAffirmativeReply(t *testing.T) {
	for name, action := range map[string]faultproxy.Action{"CutBefore": faultproxy.CutBefore, "CutAfter": faultproxy.CutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			obtain := readScript(t, "obtain")
			s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
				if obtain.runs(c) {
					return action
				}
				return faultproxy.Pass
			})
			a := s.start(s.behind("a", nil, noRetries))
			s.await("some attempts", func() bool { return len(s.calls(obtain)) > 3 })
			if a.starts() != 0 || a.IsLeader() || a.GetLeader() != "" {
				t.Errorf("%d starts, leader %t %q", a.starts(), a.IsLeader(), a.GetLeader())
			}
			s.proxy.Heal()
			s.await("a leads", a.atWork)
		})
	}
}

func TestA8_AcquireAppliedReplyLost(t *testing.T) {
	for name, options := range map[string][]func(*redis.Options){"HiddenRetry": nil, "NoRetry": {noRetries}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.proxy.NoReply(1)
			a := s.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 20 * time.Second }, options...)
			begin := time.Now()
			if s.lead(a); time.Since(begin) > 10*time.Second {
				t.Errorf("led after %v: the lost acquisition had to run out", time.Since(begin))
			}
			counter, err := s.redis.Get(t.Context(), fenceKey(s.key)).Int64()
			if fence := a.lastTerm().FenceToken(); err != nil || counter != fence || s.holder() != "a" {
				t.Errorf("the counter is at %d (%v), the term has %d, %q holds the lock", counter, err, fence, s.holder())
			}
		})
	}
}

func TestA8_CancelledInTheUnknownState(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	obtain := readScript(t, "obtain")
	a := s.behind("a", nil)
	applied := make(chan struct{})
	var once sync.Once
	s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if obtain.runs(c) && c.Name == "EVAL" { // the server knows no script yet
			s.proxy.Delay(time.Second) // of the reply
			once.Do(func() { close(applied) })
		}
		return faultproxy.Pass
	})
	s.start(a)
	<-applied
	s.await("the lock is a's", func() bool { return s.holder() == "a" })
	s.proxy.Delay(0)
	s.proxy.Cut()
	if err := a.join(); err != nil || a.starts() != a.stops() {
		t.Errorf("Run = %v, %d starts, %d stops", err, a.starts(), a.stops())
	}
	if s.holder() != "" {
		t.Error("the lock was left behind")
	}
}

func TestA9_IdentityCollision(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first := s.lead(s.beside("same", nil))
	token := s.token()
	refresh, release := readScript(t, "refresh"), readScript(t, "release")
	second := s.start(s.behind("same", nil))
	time.Sleep(testLease)
	if !first.IsLeader() || second.starts() != 0 || s.token() != token {
		t.Errorf("first leads %t, second has started %d times, token unchanged %t", first.IsLeader(), second.starts(), s.token() == token)
	}
	second.join()
	if n := len(s.calls(refresh)) + len(s.calls(release)); n != 0 || s.token() != token {
		t.Errorf("the second sent %d renewals and releases, token unchanged %t", n, s.token() == token)
	}
}

func TestA10_NewIncarnationOfTheSameIdentity(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	frozen, thaw := make(chan struct{}, 1), make(chan struct{})
	e1 := s.lead(s.beside("same", func(cfg *Config, r *replica) { cfg.Observer = &freezer{recorder{r: r}, frozen, thaw} }))
	ctx := e1.lastCtx()
	<-frozen
	s.do("DEL", s.key)
	e2 := s.lead(s.beside("same", nil))
	token := s.token()
	close(thaw)
	if cause := s.done(ctx); !errors.Is(cause, ErrLost) && !errors.Is(cause, ErrExpired) || e1.IsLeader() {
		t.Errorf("cause = %v, leader = %t", cause, e1.IsLeader())
	}
	s.await("e1 has stepped down", func() bool { return e1.stops() == 1 })
	if e1.lastTerm().FenceToken() >= e2.lastTerm().FenceToken() || s.token() != token || !e2.IsLeader() {
		t.Errorf("e1's step-down touched e2's lock, or e2's fencing token is not higher")
	}
}

// freezer blocks the elector's loop once a renewal has been answered, until thaw is
// closed.
type freezer struct {
	recorder
	frozen chan<- struct{}
	thaw   <-chan struct{}
}

func (f *freezer) RenewAttempted(string, Renewal) {
	select {
	case f.frozen <- struct{}{}:
	default:
	}
	<-f.thaw
}

func TestA11_KeyVanishes(t *testing.T) {
	for name, vanish := range map[string]func(*scene){
		"Deleted":   func(s *scene) { s.do("DEL", s.key) },
		"Restarted": func(s *scene) { s.server.Shutdown(); s.server.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var resource guard
			write := func(cfg *Config, r *replica) {
				cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
					for ctx.Err() == nil {
						resource.write(term.Identity(), term.FenceToken())
						time.Sleep(time.Millisecond)
					}
				}
			}
			a := s.lead(s.behind("a", write))
			b := s.start(s.behind("b", write))
			ctx, fence := a.lastCtx(), a.lastTerm().FenceToken()
			vanish(s)
			begin := time.Now()
			if cause := s.done(ctx); !errors.Is(cause, ErrLost) && !errors.Is(cause, ErrExpired) {
				t.Errorf("cause = %v", cause)
			}
			if took := time.Since(begin); took > testLease/3+testLease/5 {
				t.Errorf("a knew after %v, want a third of %v", took, testLease)
			}
			s.await("somebody leads again", func() bool { return a.starts() == 2 && a.atWork() || b.atWork() })
			for _, next := range []*replica{a, b} {
				if next.atWork() && next.lastTerm().FenceToken() <= fence {
					t.Errorf("fencing token %d after %d", next.lastTerm().FenceToken(), fence)
				}
			}
			a.join()
			b.join()
			if got := strings.Join(resource.writers(), " "); got != "a" && got != "a b" && got != "a b a" {
				t.Errorf("accepted writes of %q in turn", got)
			}
		})
	}
}

func TestA12_FenceNeverGoesBackwards(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var last int64
	elect := func(after string) {
		t.Helper()
		a := s.lead(s.beside("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 500 * time.Millisecond }))
		if fence := a.lastTerm().FenceToken(); fence <= last {
			t.Errorf("fencing token %d after %d, %s", fence, last, after)
		} else {
			last = fence
		}
		a.join()
	}
	elect("at first")
	s.do("SAVE")
	elect("after another")
	s.do("FLUSHALL")
	elect("after FLUSHALL")
	s.server.Shutdown()
	s.server.Restart()
	if counter, err := s.redis.Get(t.Context(), fenceKey(s.key)).Int64(); err != nil || counter >= last {
		t.Errorf("the counter is at %d (%v): the fault was not injected", counter, err)
	}
	elect("after a restart from an older snapshot")
}

func TestA12_FenceOfOneCandidateRisesAcrossALostCounter(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	a := s.lead(s.beside("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 500 * time.Millisecond }))
	for range 3 {
		last := a.lastTerm()
		s.do("FLUSHALL")
		s.await("a new term", func() bool { return a.atWork() && a.lastTerm() != last })
		if fence := a.lastTerm().FenceToken(); fence <= last.FenceToken() {
			t.Errorf("fencing token %d after %d", fence, last.FenceToken())
		}
	}
}

func TestA16_NothingIsLeftOfBriefCandidates(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	client := s.client(s.server.Addr())
	for i := range 300 {
		var starts, stops int
		e, err := New(redislock.New(client), Config{Name: "test", Callbacks: Callbacks{
			OnStartedLeading: func(ctx context.Context, _ Term) { starts++; <-ctx.Done() },
			OnStoppedLeading: func() { stops++ },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*time.Millisecond))
		err = e.Run(ctx)
		cancel()
		if left := s.holder(); err != nil || starts != stops || left != "" {
			t.Fatalf("round %d: Run = %v, %d starts, %d stops, %q holds the lock", i, err, starts, stops, left)
		}
	}
}

func TestA17_UnsupportedClients(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"shard": s.server.Addr()}})
	t.Cleanup(func() { _ = ring.Close() })
	cfg := Config{Name: "test", Callbacks: Callbacks{OnStartedLeading: func(context.Context, Term) {}}}
	for name, client := range map[string]redislock.RedisClient{
		"ring":        ring,
		"pipeline":    s.redis.Pipeline(),
		"transaction": s.redis.TxPipeline(),
		"nil":         nil,
	} {
		if _, err := New(redislock.New(client), cfg); !errors.Is(err, redislock.ErrUnsupportedClient) {
			t.Errorf("%s: New = %v", name, err)
		}
		if err := Run(t.Context(), redislock.New(client), cfg); !errors.Is(err, redislock.ErrUnsupportedClient) {
			t.Errorf("%s: Run = %v", name, err)
		}
	}
	if _, err := New(redislock.New(s.redis), cfg); err != nil {
		t.Errorf("plain client: %v", err)
	}
}
