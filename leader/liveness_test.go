package leader

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// Liveness over a real server, cases B1 to B13, in which nobody leads or somebody is
// stuck. B9 is in outage_test.go.

func TestB1_EverybodyContendsAfterEachPause(t *testing.T) {
	t.Parallel()
	const lease = 500 * time.Millisecond
	env := newEnvironment(t)
	brief := func(cfg *Config, _ *replica) { cfg.LeaseDuration = lease }
	a, b := env.lead(env.behind("a", brief)), env.start(env.behind("b", brief))
	for range 3 {
		env.do("CLIENT", "PAUSE", (2 * lease).Milliseconds())
		env.await("nobody leads", func() bool { return !a.IsLeader() && !b.IsLeader() })
		env.await("somebody leads again", func() bool { return a.atWork() || b.atWork() })
	}
	for _, next := range []*replica{b, a, b} {
		env.await(next.cfg.Identity+" has its turn", func() bool {
			for _, r := range []*replica{a, b} {
				if r != next {
					_ = r.Resign(t.Context())
				}
			}
			return next.atWork()
		})
	}
}

// This test is not parallel, because it counts goroutines.
func TestB2_OutagesComeAndGo(t *testing.T) {
	const lease = 300 * time.Millisecond
	env := newEnvironment(t)
	brief := func(cfg *Config, _ *replica) { cfg.LeaseDuration = lease }
	a, b := env.lead(env.behind("a", brief)), env.start(env.behind("b", brief))
	env.await("b follows", func() bool { return b.GetLeader() == "a" })
	var goroutines, conns int
	for round := range 5 {
		env.proxy.Refuse()
		time.Sleep(3 * lease)
		if a.IsLeader() || b.IsLeader() {
			t.Fatal("leads without Redis")
		}
		env.proxy.Heal()
		took := env.await("one leads", func() bool { return a.atWork() || b.atWork() })
		if a.IsLeader() && b.IsLeader() {
			t.Fatal("both lead")
		}
		const dialling = 2 * time.Second // go-redis tries once a second when many dials have failed
		if took > time.Duration(jitterFactor*float64(a.timing.retry))+dialling {
			t.Errorf("round %d: led after %v", round, took)
		}
		env.await("the other follows", func() bool { return a.GetLeader() != "" && a.GetLeader() == b.GetLeader() })
		if round == 0 {
			goroutines, conns = runtime.NumGoroutine(), env.proxy.Conns()
			continue
		}
		env.await("goroutines and connections as before", func() bool {
			return runtime.NumGoroutine() <= goroutines+5 && env.proxy.Conns() <= conns+2
		})
	}
}

func TestB3_RetriesAreCappedAndResume(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	obtain := readScript(t, "obtain")
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if obtain.runs(c) {
			return faultproxy.CutBefore
		}
		return faultproxy.Pass
	})
	a := env.start(env.behind("a", nil, noRetries))
	env.await("ten attempts", func() bool { return len(env.calls(obtain)) >= 10 })
	attempts := env.calls(obtain)
	var total time.Duration
	for i := range attempts[1:] {
		gap := attempts[i+1].At.Sub(attempts[i].At)
		if i == 0 {
			continue // a candidate tries once more when its subscription is confirmed
		}
		if total += gap; gap < a.timing.retry*9/10 {
			t.Errorf("attempt %d came %v after the one before, RetryPeriod is %v", i+1, gap, a.timing.retry)
		}
	}
	if mean := total / time.Duration(len(attempts)-2); mean > 2*a.timing.retry {
		t.Errorf("an attempt in %v, want one in about %v", mean, a.timing.retry)
	}
	env.proxy.Heal()
	if took := env.await("a leads", a.atWork); took > 5*a.timing.retry {
		t.Errorf("led %v after the outage", took)
	}
}

func TestB4_WorkThatEndsMakesRoom(t *testing.T) {
	for name, c := range map[string]struct {
		end    func()
		panics any
	}{
		"Returns": {func() {}, nil},
		"Panics":  {func() { panic(errBoom) }, errBoom},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			end := make(chan struct{})
			a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
				cfg.LeaseDuration = 30 * time.Second
				cfg.RetryPeriod = 200 * time.Millisecond
				cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-end; c.end() }
			}))
			b := env.start(env.behind("b", nil))
			env.await("b follows", func() bool { return b.GetLeader() == "a" })
			close(end)
			if took := env.await("b leads", b.atWork); took > 10*time.Second {
				t.Errorf("b led after %v, as if the lock had to run out", took)
			}
			env.await("a's callbacks", func() bool { return a.stops() > 0 && !a.IsLeader() })
			if c.panics != nil {
				if <-a.done; a.panic != c.panics {
					t.Errorf("Run panicked with %v", a.panic)
				}
			}
		})
	}
}

func TestB5_BrokenReplicaYieldsToTheHealthyOne(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	broken := env.start(env.behind("broken", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) {}
	}))
	env.await("the broken one has tried", func() bool { return broken.stops() > 0 })
	healthy := env.start(env.behind("healthy", nil))
	env.await("the healthy one leads", healthy.atWork)
	starts := broken.starts()
	time.Sleep(testLease)
	if !healthy.IsLeader() || broken.starts() != starts || starts > 5 {
		t.Errorf("healthy leads %t, broken has started %d times, then %d", healthy.IsLeader(), starts, broken.starts())
	}
}

func TestB6_BlockedCallbacksDoNotDelayRenewal(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	unblock := make(chan struct{})
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-unblock }
		cfg.Callbacks.OnNewLeader = func(string) { <-unblock }
	}))
	time.Sleep(testLease * 3 / 2)
	if !a.IsLeader() || a.starts() != 1 {
		t.Errorf("leader %t after %d starts", a.IsLeader(), a.starts())
	}
	close(unblock)
}

func TestB7_StoppedLeaderReleasesAtOnce(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	long := func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 30 * time.Second // or a lock that is left behind would run out soon
		cfg.RetryPeriod = 200 * time.Millisecond
	}
	a, b := env.lead(env.behind("a", long)), env.start(env.behind("b", long))
	env.await("b follows", func() bool { return b.GetLeader() == "a" })
	token := env.token()
	if err := a.join(); err != nil || env.token() == token {
		t.Errorf("Run = %v, a's lock is left: %t", err, env.token() == token)
	}
	if took := env.await("b leads", b.atWork); took > 5*b.timing.retry {
		t.Errorf("b led after %v, its RetryPeriod is %v", took, b.timing.retry)
	}
}

func TestB8_ThirdReleaseSucceeds(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	release := readScript(t, "release")
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second }, noRetries))
	sends := 0
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if release.runs(c) && c.Name == "EVALSHA" {
			if sends++; sends <= 2 {
				return faultproxy.CutBefore
			}
		}
		return faultproxy.Pass
	})
	if err := a.join(); err != nil || env.holder() != "" {
		t.Errorf("Run = %v, %q holds the lock", err, env.holder())
	}
	if got := len(env.calls(release)); got != 3 {
		t.Errorf("%d attempts to release, want 3", got)
	}
}

// The first attempt is applied but its answer is lost. Before the next one somebody
// else obtains the lock.
func TestB8_RepeatedReleaseLeavesTheNextHolderAlone(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	release := readScript(t, "release")
	env.do("SCRIPT", "LOAD", release.source)
	a := env.lead(env.behind("a", nil, noRetries))
	b := env.start(env.beside("b", nil))
	sends := 0
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if !release.runs(c) {
			return faultproxy.Pass
		}
		if sends++; sends == 1 {
			return faultproxy.CutAfter
		}
		for begin := time.Now(); !b.atWork() && time.Since(begin) < patience; {
			time.Sleep(time.Millisecond)
		}
		return faultproxy.Pass
	})
	if err := a.join(); err != nil {
		t.Error(err)
	}
	if len(env.calls(release)) < 2 || !b.IsLeader() || env.holder() != "b" {
		t.Errorf("%d attempts to release, b leads %t, %q holds the lock", len(env.calls(release)), b.IsLeader(), env.holder())
	}
}

func TestB10_ForeignKey(t *testing.T) {
	for name, c := range map[string]struct {
		put, look []any // but for the key
		line      []string
	}{
		"String": {[]any{"SET", "", "theirs"}, []any{"GET", ""}, []string{`"holds"="string"`}},
		"List":   {[]any{"RPUSH", "", "theirs"}, []any{"LRANGE", "", 0, -1}, []string{`"holds"="list"`}},
		"Hash":   {[]any{"HSET", "", "their", "own"}, []any{"HGETALL", ""}, []string{`"holds"="hash"`}},
		"LockWithoutTTL": {[]any{"HSET", "", "token", "theirs", "metadata", "them", "fence", "7"}, []any{"HGETALL", ""},
			[]string{"time to live"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			c.put[1], c.look[1] = env.key, env.key
			env.do(c.put...)
			before := env.do("DUMP", env.key)
			var log logLines
			var seen *attemptCounter
			a := env.start(env.behind("a", func(cfg *Config, r *replica) {
				seen = newAttemptCounter(r)
				cfg.Logger, cfg.Observer = log.logger(0), seen
			}))
			begin := time.Now()
			env.await("some attempts", func() bool { return seen.acquires(AcquireHeld) >= 4 })
			// One of the attempts follows the confirmation of the subscription.
			if took := time.Since(begin); took < 2*a.timing.retry {
				t.Errorf("four attempts in %v: it does not wait between them", took)
			}
			if lines := log.with(append(c.line, `"key"="`+env.key+`"`)...); len(lines) != 1 || len(log.all()) > 2 {
				t.Errorf("logged %q, want one line with %q", log.all(), c.line)
			}
			if a.starts() != 0 || env.do("DUMP", env.key) != before || seen.acquires(AcquireFailed) != 0 {
				t.Errorf("%d starts, the key now holds %v", a.starts(), env.do(c.look...))
			}
			env.do("DEL", env.key)
			env.await("a leads", a.atWork)

			env.do("DEL", env.key)
			env.do(c.put...) // again, after a term
			env.await("it is said again", func() bool { return len(log.with(append(c.line, `"key"="`+env.key+`"`)...)) == 2 })
		})
	}
}

func TestB11_WedgedElectorIsUnhealthy(t *testing.T) {
	t.Parallel()
	const tolerance = 100 * time.Millisecond
	env := newEnvironment(t)
	frozen, thaw := make(chan struct{}, 1), make(chan struct{})
	a := env.lead(env.behind("a", func(cfg *Config, r *replica) {
		cfg.LeaseDuration = testLease / 2
		cfg.Observer = &blockingObserver{recorder{r: r}, frozen, thaw}
	}))
	b := env.start(env.behind("b", func(cfg *Config, _ *replica) { cfg.LeaseDuration = testLease / 2 }))
	<-frozen
	term := a.lastTerm()
	env.await("Check fails", func() bool { return a.Check(tolerance) != nil })
	const sending = 50 * time.Millisecond // the deadline counts from before the term began
	if late := time.Since(term.StartedAt()) - a.timing.deadline; late < tolerance-sending || a.IsLeader() {
		t.Errorf("Check failed %v after the deadline, tolerance is %v; leader %t", late, tolerance, a.IsLeader())
	}
	if err := a.Check(time.Hour); err != nil {
		t.Errorf("Check with a great tolerance = %v", err)
	}
	env.await("b leads", b.atWork)
	time.Sleep(testLease / 2)
	if err := b.Check(tolerance); err != nil || !b.IsLeader() {
		t.Errorf("b: Check = %v, leader %t", err, b.IsLeader())
	}
	close(thaw)
	env.await("a is healthy again", func() bool { return a.Check(0) == nil && a.stops() == 1 })
	if err := a.lastTerm().Check(); !errors.Is(err, ErrExpired) {
		t.Errorf("a's term ended with %v", err)
	}
}

// B12: a release that goes unheard because the subscription is gone costs a RetryPeriod
// at most. A candidate that has subscribed again tries at once.
func TestB12_LostAnnouncements(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	// RetryPeriod 4 s.
	slow := func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second }
	a := env.lead(env.beside("a", slow))
	b := env.start(env.behind("b", slow))
	env.await("b listens", func() bool { return env.subscribers() == 1 })
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action { // b hears nothing more
		if c.Name == "SUBSCRIBE" {
			return faultproxy.CutBefore
		}
		return faultproxy.Pass
	})
	env.do("CLIENT", "KILL", "TYPE", "pubsub")
	if err := a.join(); err != nil {
		t.Error(err)
	}
	released := time.Now()
	env.await("b leads", b.atWork)
	if took := time.Since(released); took > time.Duration(jitterFactor*float64(b.timing.retry))+time.Second {
		t.Errorf("b led %v after a release that it could not hear", took)
	}
	c := env.start(env.behind("c", slow))
	env.await("c has looked", func() bool { return c.GetLeader() == "b" })
	if err := b.join(); err != nil {
		t.Error(err)
	}
	healed := time.Now()
	env.proxy.OnCommand(nil)
	env.await("c leads", c.atWork)
	if took := time.Since(healed); took > time.Duration(jitterFactor*float64(c.timing.retry))+time.Second {
		t.Errorf("c led %v after it could subscribe", took)
	}
}

func (env *environment) subscribers() int {
	list, err := env.redis.Do(env.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	if err != nil {
		env.Fatal(err)
	}
	return strings.Count(list, "\n")
}

func TestB13_WaitersDoNotSpin(t *testing.T) {
	t.Parallel()
	const waiters, window = 50, 3 * time.Second
	env := newEnvironment(t)
	obtain := readScript(t, "obtain")
	env.lead(env.beside("leader", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second }))
	var followed atomic.Int32
	var retry time.Duration
	for range waiters {
		r := env.start(env.behind("", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnNewLeader = func(string) { followed.Add(1) }
		}))
		retry = r.timing.retry
	}
	env.await("all follow", func() bool { return followed.Load() == waiters })
	env.proxy.ResetCommands()
	time.Sleep(window)
	got, most := len(env.calls(obtain)), int(waiters*window/retry)
	if got > most*11/10 || got < most/2 {
		t.Errorf("%d attempts of %d waiters in %v with a RetryPeriod of %v, want up to %d", got, waiters, window, retry, most)
	}
	scripts := 0
	for _, c := range env.proxy.Commands() {
		if c.IsScript() || strings.HasPrefix(c.Name, "GET") {
			scripts++
		}
	}
	if scripts < got || scripts > got+waiters { // each may have made one more attempt meanwhile
		t.Errorf("%d commands for %d attempts", scripts, got)
	}
}
