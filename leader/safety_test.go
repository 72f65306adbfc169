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

// Safety over a real server, cases A1 to A18, in which two lead, or one does not know
// that it no longer leads. A2, A13, A14 and A18 need several processes or servers and
// are tested elsewhere. A15 is about the lock alone.

func TestA1_HungRequestOutlivesTheLease(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	var seen *attemptCounter
	a := env.lead(env.behind("a", func(cfg *Config, r *replica) { seen = newAttemptCounter(r); cfg.Observer = seen }, patient))
	var endedBefore atomic.Bool
	b := env.start(env.beside("b", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
			endedBefore.Store(closed(a.lastCtx().Done()) && !a.IsLeader())
			<-ctx.Done()
		}
	}))
	env.proxy.Hole()
	answered := seen.renewed(succeeded) + seen.renewed(failed)
	if cause := env.done(a.lastCtx()); !errors.Is(cause, ErrExpired) {
		t.Errorf("a's cause = %v", cause)
	}
	env.await("b leads", b.atWork)
	// One may have been on its way.
	if now := seen.renewed(succeeded) + seen.renewed(failed); now > answered+1 {
		t.Errorf("%d calls were answered in the hole", now-answered)
	}
	env.proxy.Heal()
	if b.join(); !endedBefore.Load() {
		t.Error("b started before a's ctx was done")
	}
}

// The deadline counts from the send. An answer that takes half a lease extends the term
// by that much less. One that comes after the deadline does not bring the term back,
// although Redis has extended the key.
func TestA3_LateSuccess(t *testing.T) {
	const lease = 2 * testLease // leaves the answer 350 ms on a busy machine
	for name, c := range map[string]struct {
		delay time.Duration
		lasts bool
	}{
		"HalfALease": {lease / 2, true},
		"0.8Leases":  {lease * 8 / 10, false},
		"1.2Leases":  {lease * 12 / 10, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			// Otherwise the first renewal takes two round trips.
			env.do("SCRIPT", "LOAD", readScript(t, "refresh").source)
			var seen *attemptCounter
			a := env.lead(env.behind("a", func(cfg *Config, r *replica) {
				cfg.LeaseDuration, cfg.RenewDeadline = lease, lease*95/100
				seen = newAttemptCounter(r)
				cfg.Observer = seen
			}, patient))
			ctx, term := a.lastCtx(), a.lastTerm()
			if c.lasts { // the next renewal finds a connection, which it need not open
				env.await("a renewal", func() bool { return seen.renewed(succeeded) > 0 })
			}
			before := seen.renewed(succeeded)
			env.proxy.Delay(c.delay)
			if c.lasts {
				env.await("a late renewal", func() bool { return seen.renewed(succeeded) > before })
				for range 300 {
					if left, most := term.Remaining(), a.timing.deadline-c.delay; left > most || left <= 0 {
						t.Fatalf("Remaining = %v, want up to %v", left, most)
					}
					time.Sleep(time.Millisecond)
				}
				return
			}
			if cause := env.done(ctx); !errors.Is(cause, ErrExpired) {
				t.Errorf("cause = %v", cause)
			}
			if took := time.Since(term.StartedAt()); took > a.timing.deadline+lease/10 {
				t.Errorf("the term ended after %v, its deadline was %v", took, a.timing.deadline)
			}
			if env.do("PTTL", env.key).(int64) < 1 {
				t.Error("Redis has not extended the key: the fault was not injected")
			}
		})
	}
}

func TestA4_ReleasedOnlyAfterTheWorkReturned(t *testing.T) {
	t.Parallel()
	const lease = testLease / 2
	env := newEnvironment(t)
	refresh := readScript(t, "refresh")
	var returned time.Time
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = lease
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
			<-ctx.Done()
			time.Sleep(2 * lease)
			returned = time.Now()
		}
	}))
	var started time.Time
	b := env.start(env.beside("b", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = lease
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { started = time.Now(); <-ctx.Done() }
	}))
	env.proxy.ResetCommands()
	if err := a.join(); err != nil {
		t.Error(err)
	}
	if kept := len(env.calls(refresh)); kept < 4 {
		t.Errorf("%d renewals during two leases of draining", kept)
	}
	env.await("b leads", b.atWork)
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
			env := newEnvironment(t)
			release := readScript(t, "release")
			var cancelled, returned time.Time
			a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
				cfg.LeaseDuration = testLease / 2
				cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
					<-ctx.Done()
					cancelled = time.Now()
					time.Sleep(20 * time.Millisecond)
					returned = time.Now()
				}
			}))
			env.proxy.ResetCommands() // a slow first attempt to obtain has been cleaned up after
			env.proxy.OnCommand(swallowScripts)
			stop(a)
			env.await("a release on the wire", func() bool { return len(env.calls(release)) > 0 })
			first := env.calls(release)[0].At
			env.proxy.Heal()
			if a.join(); !cancelled.Before(first) || !returned.Before(first) {
				t.Errorf("released %v after the cancellation, %v after the work returned", first.Sub(cancelled), first.Sub(returned))
			}
		})
	}
}

// swallowScripts drops what an elector sends, but lets it set up new connections to
// send it on.
func swallowScripts(c faultproxy.Command) faultproxy.Action {
	if c.IsScript() {
		return faultproxy.Swallow
	}
	return faultproxy.Pass
}

// swallowRefreshes drops renewals and nothing else.
func swallowRefreshes(tb testing.TB) func(faultproxy.Command) faultproxy.Action {
	refresh := readScript(tb, "refresh")
	return func(c faultproxy.Command) faultproxy.Action {
		if refresh.runs(c) {
			return faultproxy.Swallow
		}
		return faultproxy.Pass
	}
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
			env := newEnvironment(t)
			a := env.lead(env.behind("a", nil))
			ctx := a.lastCtx()
			c.intrude[1], c.look[1] = env.key, env.key
			env.do(c.intrude...)
			begin := time.Now()
			if cause := env.done(ctx); !errors.Is(cause, ErrLost) || a.IsLeader() {
				t.Errorf("cause = %v, leader = %t", cause, a.IsLeader())
			}
			if took := time.Since(begin); took > testLease/3+testLease/5 {
				t.Errorf("a knew after %v, want a third of %v", took, testLease)
			}
			env.do("PERSIST", env.key) // or it would run out and be vacant
			time.Sleep(3 * a.timing.retry)
			if got := env.do(c.look...); got != c.want || a.starts() != 1 {
				t.Errorf("the key holds %v, a has started %d times", got, a.starts())
			}
		})
	}
}

// An error is not a success, whether or not the call was applied.
func TestA7_NoStartWithoutAnAffirmativeReply(t *testing.T) {
	for name, action := range map[string]faultproxy.Action{"CutBefore": faultproxy.CutBefore, "CutAfter": faultproxy.CutAfter} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			obtain := readScript(t, "obtain")
			env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
				if obtain.runs(c) {
					return action
				}
				return faultproxy.Pass
			})
			a := env.start(env.behind("a", nil, noRetries))
			env.await("some attempts", func() bool { return len(env.calls(obtain)) > 3 })
			if a.starts() != 0 || a.IsLeader() || a.GetLeader() != "" {
				t.Errorf("%d starts, leader %t %q", a.starts(), a.IsLeader(), a.GetLeader())
			}
			env.proxy.Heal()
			env.await("a leads", a.atWork)
		})
	}
}

func TestA8_AcquireAppliedReplyLost(t *testing.T) {
	for name, options := range map[string][]func(*redis.Options){"HiddenRetry": nil, "NoRetry": {noRetries}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			env.proxy.NoReply(1)
			a := env.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 20 * time.Second }, options...)
			begin := time.Now()
			if env.lead(a); time.Since(begin) > 10*time.Second {
				t.Errorf("led after %v: the lost acquisition had to run out", time.Since(begin))
			}
			counter, err := env.redis.Get(t.Context(), FenceKey("", "test")).Int64()
			if fence := a.lastTerm().FenceToken(); err != nil || counter != fence || env.holder() != "a" {
				t.Errorf("the counter is at %d (%v), the term has %d, %q holds the lock", counter, err, fence, env.holder())
			}
		})
	}
}

func TestA8_CancelledInTheUnknownState(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	obtain := readScript(t, "obtain")
	a := env.behind("a", nil)
	applied := make(chan struct{})
	var once sync.Once
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if obtain.runs(c) && c.Name == "EVAL" { // the server knows no script yet
			env.proxy.Delay(time.Second) // of the reply
			once.Do(func() { close(applied) })
		}
		return faultproxy.Pass
	})
	env.start(a)
	<-applied
	env.await("the lock is a's", func() bool { return env.holder() == "a" })
	env.proxy.Delay(0)
	env.proxy.Cut()
	if err := a.join(); err != nil || a.starts() != a.stops() {
		t.Errorf("Run = %v, %d starts, %d stops", err, a.starts(), a.stops())
	}
	if env.holder() != "" {
		t.Error("the lock was left behind")
	}
}

func TestA9_IdentityCollision(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	first := env.lead(env.beside("same", nil))
	token := env.token()
	refresh, release := readScript(t, "refresh"), readScript(t, "release")
	second := env.start(env.behind("same", nil))
	time.Sleep(testLease)
	if !first.IsLeader() || second.starts() != 0 || env.token() != token {
		t.Errorf("first leads %t, second has started %d times, token unchanged %t", first.IsLeader(), second.starts(), env.token() == token)
	}
	second.join()
	if n := len(env.calls(refresh)) + len(env.calls(release)); n != 0 || env.token() != token {
		t.Errorf("the second sent %d renewals and releases, token unchanged %t", n, env.token() == token)
	}
}

func TestA10_NewIncarnationOfTheSameIdentity(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	frozen, thaw := make(chan struct{}, 1), make(chan struct{})
	e1 := env.lead(env.beside("same", func(cfg *Config, r *replica) { cfg.Observer = &blockingObserver{recorder{r: r}, frozen, thaw} }))
	ctx := e1.lastCtx()
	<-frozen
	env.do("DEL", env.key)
	e2 := env.lead(env.beside("same", nil))
	token := env.token()
	close(thaw)
	if cause := env.done(ctx); !errors.Is(cause, ErrLost) && !errors.Is(cause, ErrExpired) || e1.IsLeader() {
		t.Errorf("cause = %v, leader = %t", cause, e1.IsLeader())
	}
	env.await("e1 has stepped down", func() bool { return e1.stops() == 1 })
	if e1.lastTerm().FenceToken() >= e2.lastTerm().FenceToken() || env.token() != token || !e2.IsLeader() {
		t.Errorf("e1's step-down touched e2's lock, or e2's fencing token is not higher")
	}
}

// blockingObserver blocks the elector's loop once a renewal has been answered, until
// thaw is closed.
type blockingObserver struct {
	recorder
	frozen chan<- struct{}
	thaw   <-chan struct{}
}

func (f *blockingObserver) RenewAttempted(string, Renewal) {
	select {
	case f.frozen <- struct{}{}:
	default:
	}
	<-f.thaw
}

func TestA11_KeyVanishes(t *testing.T) {
	for name, vanish := range map[string]func(*environment){
		"Deleted":   func(env *environment) { env.do("DEL", env.key) },
		"Restarted": func(env *environment) { env.server.Shutdown(); env.server.Restart() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			var resource guardedResource
			write := func(cfg *Config, r *replica) {
				cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
					for ctx.Err() == nil {
						resource.write(term.Identity(), term.FenceToken())
						time.Sleep(time.Millisecond)
					}
				}
			}
			a := env.lead(env.behind("a", write))
			b := env.start(env.behind("b", write))
			ctx, fence := a.lastCtx(), a.lastTerm().FenceToken()
			vanish(env)
			begin := time.Now()
			if cause := env.done(ctx); !errors.Is(cause, ErrLost) && !errors.Is(cause, ErrExpired) {
				t.Errorf("cause = %v", cause)
			}
			if took := time.Since(begin); took > testLease/3+testLease/5 {
				t.Errorf("a knew after %v, want a third of %v", took, testLease)
			}
			env.await("somebody leads again", func() bool { return a.starts() == 2 && a.atWork() || b.atWork() })
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
	env := newEnvironment(t)
	var last int64
	elect := func(after string) {
		t.Helper()
		a := env.lead(env.beside("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 500 * time.Millisecond }))
		if fence := a.lastTerm().FenceToken(); fence <= last {
			t.Errorf("fencing token %d after %d, %s", fence, last, after)
		} else {
			last = fence
		}
		a.join()
	}
	elect("at first")
	env.do("SAVE")
	elect("after another")
	env.do("FLUSHALL")
	elect("after FLUSHALL")
	env.server.Shutdown()
	env.server.Restart()
	if counter, err := env.redis.Get(t.Context(), FenceKey("", "test")).Int64(); err != nil || counter >= last {
		t.Errorf("the counter is at %d (%v): the fault was not injected", counter, err)
	}
	elect("after a restart from an older snapshot")
}

func TestA12_FenceOfOneCandidateRisesAcrossALostCounter(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	a := env.lead(env.beside("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 500 * time.Millisecond }))
	for range 3 {
		last := a.lastTerm()
		env.do("FLUSHALL")
		env.await("a new term", func() bool { return a.atWork() && a.lastTerm() != last })
		if fence := a.lastTerm().FenceToken(); fence <= last.FenceToken() {
			t.Errorf("fencing token %d after %d", fence, last.FenceToken())
		}
	}
}

func TestA16_NothingIsLeftOfBriefCandidates(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	client := env.client(env.server.Addr())
	for i := range 300 {
		var starts, stops int
		e, err := New(redislock.New(client), Config{Name: "test", Logger: silent, Callbacks: Callbacks{
			OnStartedLeading: func(ctx context.Context, _ Term) { starts++; <-ctx.Done() },
			OnStoppedLeading: func() { stops++ },
		}})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), rand.N(2*time.Millisecond))
		err = e.Run(ctx)
		cancel()
		if left := env.holder(); err != nil || starts != stops || left != "" {
			t.Fatalf("round %d: Run = %v, %d starts, %d stops, %q holds the lock", i, err, starts, stops, left)
		}
	}
}

func TestA17_UnsupportedClients(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"shard": env.server.Addr()}})
	t.Cleanup(func() { _ = ring.Close() })
	cfg := Config{Name: "test", Logger: silent, Callbacks: Callbacks{OnStartedLeading: func(context.Context, Term) {}}}
	for name, client := range map[string]redislock.RedisClient{
		"ring":        ring,
		"pipeline":    env.redis.Pipeline(),
		"transaction": env.redis.TxPipeline(),
		"nil":         nil,
	} {
		if _, err := New(redislock.New(client), cfg); !errors.Is(err, redislock.ErrUnsupportedClient) {
			t.Errorf("%s: New = %v", name, err)
		}
		if err := Run(t.Context(), redislock.New(client), cfg); !errors.Is(err, redislock.ErrUnsupportedClient) {
			t.Errorf("%s: Run = %v", name, err)
		}
	}
	if _, err := New(redislock.New(env.redis), cfg); err != nil {
		t.Errorf("plain client: %v", err)
	}
}
