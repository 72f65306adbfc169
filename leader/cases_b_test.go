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

// The cases of group B, nobody leads or somebody is stuck, over a real server. For B9
// see outage_test.go; B12 is about announcements.

func TestB1_EverybodyContendsAfterEachPause(t *testing.T) {
	t.Parallel()
	const lease = 500 * time.Millisecond
	s := newScene(t)
	brief := func(cfg *Config, _ *replica) { cfg.LeaseDuration = lease }
	a, b := s.lead(s.behind("a", brief)), s.start(s.behind("b", brief))
	for range 3 {
		s.do("CLIENT", "PAUSE", (2 * lease).Milliseconds())
		s.await("nobody leads", func() bool { return !a.IsLeader() && !b.IsLeader() })
		s.await("somebody leads again", func() bool { return a.atWork() || b.atWork() })
	}
	for _, next := range []*replica{b, a, b} {
		s.await(next.cfg.Identity+" has its turn", func() bool {
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
	s := newScene(t)
	brief := func(cfg *Config, _ *replica) { cfg.LeaseDuration = lease }
	a, b := s.lead(s.behind("a", brief)), s.start(s.behind("b", brief))
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	var goroutines, conns int
	for round := range 5 {
		s.proxy.Refuse()
		time.Sleep(3 * lease)
		if a.IsLeader() || b.IsLeader() {
			t.Fatal("leads without Redis")
		}
		s.proxy.Heal()
		took := s.await("one leads", func() bool { return a.atWork() || b.atWork() })
		if a.IsLeader() && b.IsLeader() {
			t.Fatal("both lead")
		}
		const dialling = 2 * time.Second // go-redis tries once a second when many dials have failed
		if took > time.Duration(jitterFactor*float64(a.timing.retry))+dialling {
			t.Errorf("round %d: led after %v", round, took)
		}
		s.await("the other follows", func() bool { return a.GetLeader() != "" && a.GetLeader() == b.GetLeader() })
		if round == 0 {
			goroutines, conns = runtime.NumGoroutine(), s.proxy.Conns()
			continue
		}
		s.await("goroutines and connections as before", func() bool {
			return runtime.NumGoroutine() <= goroutines+5 && s.proxy.Conns() <= conns+2
		})
	}
}

func TestB3_RetriesAreCappedAndResume(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	obtain := readScript(t, "obtain")
	s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if obtain.runs(c) {
			return faultproxy.CutBefore
		}
		return faultproxy.Pass
	})
	a := s.start(s.behind("a", nil, noRetries))
	s.await("ten attempts", func() bool { return len(s.calls(obtain)) >= 10 })
	attempts := s.calls(obtain)
	var total time.Duration
	for i := range attempts[1:] {
		gap := attempts[i+1].At.Sub(attempts[i].At)
		if i == 0 {
			continue // on hearing that it is subscribed to announcements, a candidate looks again
		}
		if total += gap; gap < a.timing.retry*9/10 {
			t.Errorf("attempt %d came %v after the one before, RetryPeriod is %v", i+1, gap, a.timing.retry)
		}
	}
	if mean := total / time.Duration(len(attempts)-2); mean > 2*a.timing.retry {
		t.Errorf("an attempt in %v, want one in about %v", mean, a.timing.retry)
	}
	s.proxy.Heal()
	if took := s.await("a leads", a.atWork); took > 5*a.timing.retry {
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
			s := newScene(t)
			end := make(chan struct{})
			a := s.lead(s.behind("a", func(cfg *Config, _ *replica) {
				cfg.LeaseDuration = 30 * time.Second
				cfg.RetryPeriod = 200 * time.Millisecond
				cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-end; c.end() }
			}))
			b := s.start(s.behind("b", nil))
			s.await("b follows", func() bool { return b.GetLeader() == "a" })
			close(end)
			if took := s.await("b leads", b.atWork); took > 10*time.Second {
				t.Errorf("b led after %v, as if the lock had to run out", took)
			}
			s.await("a's callbacks", func() bool { return a.stops() > 0 && !a.IsLeader() })
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
	s := newScene(t)
	broken := s.start(s.behind("broken", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) {}
	}))
	s.await("the broken one has tried", func() bool { return broken.stops() > 0 })
	healthy := s.start(s.behind("healthy", nil))
	s.await("the healthy one leads", healthy.atWork)
	starts := broken.starts()
	time.Sleep(testLease)
	if !healthy.IsLeader() || broken.starts() != starts || starts > 5 {
		t.Errorf("healthy leads %t, broken has started %d times, then %d", healthy.IsLeader(), starts, broken.starts())
	}
}

func TestB6_BlockedCallbacksDoNotDelayRenewal(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	unblock := make(chan struct{})
	a := s.lead(s.behind("a", func(cfg *Config, _ *replica) {
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
	s := newScene(t)
	long := func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 30 * time.Second // a lock that is left would show
		cfg.RetryPeriod = 200 * time.Millisecond
	}
	a, b := s.lead(s.behind("a", long)), s.start(s.behind("b", long))
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	token := s.token()
	if err := a.join(); err != nil || s.token() == token {
		t.Errorf("Run = %v, a's lock is left: %t", err, s.token() == token)
	}
	if took := s.await("b leads", b.atWork); took > 5*b.timing.retry {
		t.Errorf("b led after %v, its RetryPeriod is %v", took, b.timing.retry)
	}
}

func TestB8_ThirdReleaseSucceeds(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	release := readScript(t, "release")
	a := s.lead(s.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second }, noRetries))
	sends := 0
	s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if release.runs(c) && c.Name == "EVALSHA" {
			if sends++; sends <= 2 {
				return faultproxy.CutBefore
			}
		}
		return faultproxy.Pass
	})
	if err := a.join(); err != nil || s.holder() != "" {
		t.Errorf("Run = %v, %q holds the lock", err, s.holder())
	}
	if got := len(s.calls(release)); got != 3 {
		t.Errorf("%d attempts to release, want 3", got)
	}
}

// The first attempt is applied but its answer is lost; before the next one somebody
// else has obtained the lock.
func TestB8_RepeatedReleaseLeavesTheNextHolderAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	release := readScript(t, "release")
	s.do("SCRIPT", "LOAD", release.source)
	a := s.lead(s.behind("a", nil, noRetries))
	b := s.start(s.beside("b", nil))
	sends := 0
	s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
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
	if len(s.calls(release)) < 2 || !b.IsLeader() || s.holder() != "b" {
		t.Errorf("%d attempts to release, b leads %t, %q holds the lock", len(s.calls(release)), b.IsLeader(), s.holder())
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
			s := newScene(t)
			c.put[1], c.look[1] = s.key, s.key
			s.do(c.put...)
			before := s.do("DUMP", s.key)
			var log journal
			var seen *tally
			a := s.start(s.behind("a", func(cfg *Config, r *replica) {
				seen = newTally(r)
				cfg.Logger, cfg.Observer = log.logger(0), seen
			}))
			begin := time.Now()
			s.await("some attempts", func() bool { return seen.acquires(AcquireHeld) >= 4 })
			if took := time.Since(begin); took < 2*a.timing.retry { // one of them because announcements can be heard from then on
				t.Errorf("four attempts in %v: it spins", took)
			}
			if lines := log.with(append(c.line, `"key"="`+s.key+`"`)...); len(lines) != 1 || len(log.all()) > 2 {
				t.Errorf("logged %q, want one line with %q", log.all(), c.line)
			}
			if a.starts() != 0 || s.do("DUMP", s.key) != before || seen.acquires(AcquireFailed) != 0 {
				t.Errorf("%d starts, the key now holds %v", a.starts(), s.do(c.look...))
			}
			s.do("DEL", s.key)
			s.await("a leads", a.atWork)

			s.do("DEL", s.key)
			s.do(c.put...) // again, after a term
			s.await("it is said again", func() bool { return len(log.with(append(c.line, `"key"="`+s.key+`"`)...)) == 2 })
		})
	}
}

func TestB11_WedgedElectorIsUnhealthy(t *testing.T) {
	t.Parallel()
	const tolerance = 100 * time.Millisecond
	s := newScene(t)
	frozen, thaw := make(chan struct{}, 1), make(chan struct{})
	a := s.lead(s.behind("a", func(cfg *Config, r *replica) {
		cfg.LeaseDuration = testLease / 2
		cfg.Observer = &freezer{recorder{r: r}, frozen, thaw}
	}))
	b := s.start(s.behind("b", func(cfg *Config, _ *replica) { cfg.LeaseDuration = testLease / 2 }))
	<-frozen
	term := a.lastTerm()
	s.await("Check fails", func() bool { return a.Check(tolerance) != nil })
	const sending = 50 * time.Millisecond // the deadline counts from before the term began
	if late := time.Since(term.StartedAt()) - a.timing.deadline; late < tolerance-sending || a.IsLeader() {
		t.Errorf("Check failed %v after the deadline, tolerance is %v; leader %t", late, tolerance, a.IsLeader())
	}
	if err := a.Check(time.Hour); err != nil {
		t.Errorf("Check with a great tolerance = %v", err)
	}
	s.await("b leads", b.atWork)
	time.Sleep(testLease / 2)
	if err := b.Check(tolerance); err != nil || !b.IsLeader() {
		t.Errorf("b: Check = %v, leader %t", err, b.IsLeader())
	}
	close(thaw)
	s.await("a is healthy again", func() bool { return a.Check(0) == nil && a.stops() == 1 })
	if err := a.lastTerm().Check(); !errors.Is(err, ErrExpired) {
		t.Errorf("a's term ended with %v", err)
	}
}

// A release that goes unheard because the subscription is gone costs at most a
// RetryPeriod; and who subscribes again looks.
func TestB12_LostAnnouncements(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	slow := func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second } // RetryPeriod 4 s
	a := s.lead(s.beside("a", slow))
	b := s.start(s.behind("b", slow))
	s.await("b listens", func() bool { return s.subscribers() == 1 })
	s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action { // b is deaf until it looks
		if c.Name == "SUBSCRIBE" {
			return faultproxy.CutBefore
		}
		return faultproxy.Pass
	})
	s.do("CLIENT", "KILL", "TYPE", "pubsub")
	if err := a.join(); err != nil {
		t.Error(err)
	}
	released := time.Now()
	s.await("b leads", b.atWork)
	if took := time.Since(released); took > time.Duration(jitterFactor*float64(b.timing.retry))+time.Second {
		t.Errorf("b led %v after a release that it could not hear", took)
	}
	c := s.start(s.behind("c", slow))
	s.await("c has looked", func() bool { return c.GetLeader() == "b" })
	if err := b.join(); err != nil {
		t.Error(err)
	}
	healed := time.Now()
	s.proxy.OnCommand(nil)
	s.await("c leads", c.atWork)
	if took := time.Since(healed); took > time.Duration(jitterFactor*float64(c.timing.retry))+time.Second {
		t.Errorf("c led %v after it could subscribe", took)
	}
}

func (s *scene) subscribers() int {
	list, err := s.redis.Do(s.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	if err != nil {
		s.Fatal(err)
	}
	return strings.Count(list, "\n")
}

func TestB13_WaitersDoNotSpin(t *testing.T) {
	t.Parallel()
	const waiters, window = 50, 3 * time.Second
	s := newScene(t)
	obtain := readScript(t, "obtain")
	s.lead(s.beside("leader", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 30 * time.Second }))
	var followed atomic.Int32
	var retry time.Duration
	for range waiters {
		r := s.start(s.behind("", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnNewLeader = func(string) { followed.Add(1) }
		}))
		retry = r.timing.retry
	}
	s.await("all follow", func() bool { return followed.Load() == waiters })
	s.proxy.ResetCommands()
	time.Sleep(window)
	got, most := len(s.calls(obtain)), int(waiters*window/retry)
	if got > most*11/10 || got < most/2 {
		t.Errorf("%d attempts of %d waiters in %v with a RetryPeriod of %v, want up to %d", got, waiters, window, retry, most)
	}
	scripts := 0
	for _, c := range s.proxy.Commands() {
		if c.IsScript() || strings.HasPrefix(c.Name, "GET") {
			scripts++
		}
	}
	if scripts < got || scripts > got+waiters { // counted a moment later, when each may have made one more
		t.Errorf("%d commands for %d attempts", scripts, got)
	}
}
