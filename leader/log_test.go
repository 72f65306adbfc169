package leader

import (
	"context"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
)

// While nothing changes, nothing is logged, not even at V(1), the level of what is
// repeated.
func TestSteadyStateLogsNothing(t *testing.T) {
	for _, verbosity := range []int{0, 1} {
		bubble(t, func(t *testing.T, server *memServer) {
			var leaderLog, followerLog logLines
			a := newReplica(t, server, "a", logTo(&leaderLog, verbosity)).start(t)
			await(t, 0, "a leads", a.IsLeader)
			b := newReplica(t, server, "b", logTo(&followerLog, verbosity)).start(t)
			for _, steady := range []time.Duration{time.Minute, time.Hour} {
				time.Sleep(steady)
				synctest.Wait()
				if lines := leaderLog.all(); len(lines) < 1 || len(lines) > 2 || len(leaderLog.with(`"Became leader"`, `"name"="test"`, `"identity"="a"`, `"fence"=1`)) != 1 {
					t.Errorf("after %v the leader has logged %q", steady, lines)
				}
				if lines := followerLog.all(); len(lines) != 1 || len(followerLog.with(`"leader"="a"`, `"name"="test"`, `"identity"="b"`, `"fence"=1`)) != 1 {
					t.Errorf("after %v the follower has logged %q, want one line that names the leader", steady, lines)
				}
			}
			a.join()
			if len(leaderLog.with(`"Term ended"`, `"fence"=1`, `"reason"="stopped"`)) != 1 {
				t.Errorf("the leader logged %q", leaderLog.all())
			}
			b.join()
		})
	}
}

// outages are what a candidate may see of a Redis that is away for a minute.
var outages = map[string]func(op string) memFault{
	"refused": func(string) memFault { return memFault{err: errDown} },
	"hole":    func(string) memFault { return memFault{before: 2 * time.Second, err: context.DeadlineExceeded} },
	// As in a failover: nobody listens, nobody answers, and then it is not the master.
	"mixed": func() func(string) memFault {
		errs := []error{errDown, context.DeadlineExceeded, reply("LOADING Redis is loading the dataset in memory"), reply("READONLY You can't write against a read only replica.")}
		return func(string) memFault { return memFault{err: errs[rand.IntN(len(errs))]} }
	}(),
}

func TestOutageIsLoggedOnceAndCounted(t *testing.T) {
	for name, fault := range outages {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				a := newReplica(t, server, "a", nil)
				b := newReplica(t, server, "b", nil)
				var quiet, verbose [2]logLines
				for i, r := range []*replica{a, b} { // one log shows what the other leaves out
					logger := logr.New(twoSinks{quiet[i].logger(0).GetSink(), verbose[i].logger(1).GetSink()}).WithValues("name", "test")
					r.cfg.Logger = logger
				}
				a.start(t)
				await(t, 0, "a leads", a.IsLeader)
				b.start(t)
				await(t, testLease, "b follows", func() bool { return b.GetLeader() == "a" })
				begin := [2]int{len(quiet[0].all()), len(quiet[1].all())}
				server.setFault(fault)
				time.Sleep(time.Minute)
				server.setFault(nil)
				await(t, 3*time.Second, "both know that it is over", func() bool {
					return len(quiet[0].with("answers again")) == 1 && len(quiet[1].with("answers again")) == 1
				})
				await(t, 2*testLease, "somebody leads", func() bool { return a.IsLeader() || b.IsLeader() })
				synctest.Wait()
				for i, identity := range []string{"the leader", "the follower"} {
					lines := quiet[i].all()[begin[i]:]
					if len(lines) > 8 {
						t.Errorf("%s logged %d lines: %q", identity, len(lines), lines)
					}
					errors := len(verbose[i].with(`"error"=`))
					if counted := countErrors(t, quiet[i].with("answers again")); counted != errors || errors < 20 {
						t.Errorf("%s counted %d errors in %q, but met %d", identity, counted, quiet[i].with("answers again"), errors)
					}
					if shown := len(quiet[i].with(`"error"=`)); shown == 0 || shown > 4 {
						t.Errorf("%s logged %d errors: %q", identity, shown, lines)
					}
					if len(verbose[i].with(`"times"=2`)) == 0 {
						t.Errorf("retries of %s are not at V(1): %q", identity, verbose[i].all())
					}
				}
				a.join()
				b.join()
			})
		})
	}
}

// countErrors adds the numbers in the line that ends an outage.
func countErrors(t *testing.T, lines []string) int {
	t.Helper()
	if len(lines) != 1 {
		t.Fatalf("the end of the outage is logged as %q", lines)
	}
	sum := 0
	for _, match := range regexp.MustCompile(`:(\d+)`).FindAllStringSubmatch(lines[0], -1) {
		n, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		sum += n
	}
	return sum
}

// An error that comes back after Redis has answered is logged again.
func TestEachOutageIsLogged(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var log logLines
		a := newReplica(t, server, "a", logTo(&log, 0)).start(t)
		await(t, 0, "a leads", a.IsLeader)
		begin := len(log.all())
		const times = 5
		for i := range times { // each shorter than the term
			server.setFault(outages["refused"])
			await(t, testLease, "an error", func() bool { return len(log.with(`"error"="connection refused"`)) == i+1 })
			server.setFault(nil)
			await(t, testLease, "the end of it", func() bool { return len(log.with("answers again", "refused:")) == i+1 })
		}
		if lines := log.all()[begin:]; len(lines) != 2*times || !a.IsLeader() {
			t.Errorf("a leads %t, logged %q", a.IsLeader(), lines)
		}
	})
}

// twoSinks writes to both, each at its own verbosity.
type twoSinks [2]logr.LogSink

func (s twoSinks) Init(logr.RuntimeInfo)        {}
func (s twoSinks) Enabled(level int) bool       { return s[0].Enabled(level) || s[1].Enabled(level) }
func (s twoSinks) WithName(string) logr.LogSink { return s }
func (s twoSinks) WithValues(values ...any) logr.LogSink {
	return twoSinks{s[0].WithValues(values...), s[1].WithValues(values...)}
}
func (s twoSinks) Info(level int, message string, values ...any) {
	for _, sink := range s {
		if sink.Enabled(level) {
			sink.Info(level, message, values...)
		}
	}
}
func (s twoSinks) Error(err error, message string, values ...any) {
	for _, sink := range s {
		sink.Error(err, message, values...)
	}
}

// A whole life with faults over a real server, at the highest verbosity.
func TestLogNeverHoldsAnOwnershipToken(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	var log logLines
	chatty := func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = testLease / 2
		cfg.Logger = log.logger(100)
		cfg.FenceFloor = func(context.Context) (int64, error) { return 1 << 52, nil }
	}
	var tokens []string
	note := func() {
		if token := env.token(); token != "" && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	a := env.lead(env.behind("a", chatty))
	note()
	env.start(env.behind("b", chatty))
	env.await("b follows", func() bool { return len(log.with(`"identity"="b"`, `"leader"="a"`)) == 1 })
	env.proxy.Refuse()
	env.done(a.lastCtx())
	env.proxy.Heal()
	env.await("somebody leads again", func() bool { note(); return len(tokens) == 2 })
	env.proxy.NoReply(3)
	env.do("CONFIG", "SET", "maxmemory", "1")
	env.do("DEL", env.key)
	env.await("no memory", func() bool { return len(log.with("OOM")) > 0 })
	env.do("CONFIG", "SET", "maxmemory", "0")
	env.await("somebody leads once more", func() bool { note(); return len(tokens) == 3 })
	a.join()
	env.await("a third term", func() bool { note(); return env.holder() == "b" })
	for _, token := range tokens {
		if leaks := log.with(token); len(leaks) > 0 {
			t.Errorf("token %s is in %q", token, leaks)
		}
	}
	if len(tokens) < 3 || len(log.with(`"error"`)) == 0 {
		t.Errorf("%d terms, and %d errors logged: the faults were not injected", len(tokens), len(log.with(`"error"`)))
	}
}
