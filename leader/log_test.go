package leader

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// journal keeps log lines.
type journal struct {
	mu    sync.Mutex
	lines []string
}

// logger writes to the journal up to a level of verbosity.
func (j *journal) logger(verbosity int) logr.Logger {
	return funcr.New(func(_, line string) {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.lines = append(j.lines, line)
	}, funcr.Options{Verbosity: verbosity})
}

func (j *journal) all() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.lines)
}

// with are the lines that contain all of the texts.
func (j *journal) with(texts ...string) []string {
	return slices.DeleteFunc(j.all(), func(line string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) })
	})
}

func logTo(j *journal, verbosity int) func(*Config, *replica) {
	return func(cfg *Config, _ *replica) { cfg.Logger = j.logger(verbosity) }
}

func TestSteadyStateLogsNothing(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var leaderLog, followerLog journal
		a := newReplica(t, server, "a", logTo(&leaderLog, 0)).start(t)
		await(t, 0, "a leads", a.IsLeader)
		b := newReplica(t, server, "b", logTo(&followerLog, 0)).start(t)
		time.Sleep(time.Hour)
		synctest.Wait()
		if lines := leaderLog.all(); len(lines) < 1 || len(lines) > 2 || len(leaderLog.with(`"Became leader"`, `"name"="test"`, `"identity"="a"`, `"fence"=1`)) != 1 {
			t.Errorf("the leader logged %q", lines)
		}
		if lines := followerLog.all(); len(lines) != 1 || len(followerLog.with(`"leader"="a"`, `"name"="test"`, `"identity"="b"`, `"fence"=1`)) != 1 {
			t.Errorf("the follower logged %q, want one line that names the leader", lines)
		}
		a.join()
		if len(leaderLog.with(`"Stopped leading"`, `"fence"=1`, `"reason"="stopped"`)) != 1 {
			t.Errorf("the leader logged %q", leaderLog.all())
		}
		b.join()
	})
}

func TestOutageIsLoggedOnceAndCounted(t *testing.T) {
	for name, fault := range map[string]memFault{"refused": {err: errDown}, "hole": {before: 2 * time.Second, err: context.DeadlineExceeded}} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				var log, verbose journal
				a := newReplica(t, server, "a", logTo(&log, 0)).start(t)
				await(t, 0, "a leads", a.IsLeader)
				b := newReplica(t, server, "b", logTo(&verbose, 1)).start(t)
				await(t, testLease, "b follows", func() bool { return b.GetLeader() == "a" })
				begin := len(log.all())
				server.setFault(func(string) memFault { return fault })
				time.Sleep(time.Minute)
				server.setFault(nil)
				await(t, 3*time.Second, "a follows or leads", func() bool { return len(log.with("answers again")) == 1 })
				await(t, testLease, "somebody leads", func() bool { return a.IsLeader() || b.IsLeader() })
				synctest.Wait()
				if lines := log.all()[begin:]; len(lines) > 8 {
					t.Errorf("%d lines: %q", len(lines), lines)
				}
				if over := log.with("answers again"); len(over) != 1 || !strings.ContainsAny(over[0], "123456789") {
					t.Errorf("the end of the outage is told by %q", over)
				}
				if len(verbose.with(`"times"=2`)) == 0 {
					t.Errorf("retries are not at V(1): %q", verbose.all())
				}
				a.join()
				b.join()
			})
		})
	}
}

// Over a real server, through a whole life with faults, at the highest verbosity.
func TestLogNeverHoldsAnOwnershipToken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var log journal
	chatty := func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = testLease / 2
		cfg.Logger = log.logger(100)
		cfg.FenceFloor = func(context.Context) (int64, error) { return 1 << 52, nil }
	}
	var tokens []string
	note := func() {
		if token := s.token(); token != "" && !slices.Contains(tokens, token) {
			tokens = append(tokens, token)
		}
	}
	a := s.lead(s.behind("a", chatty))
	note()
	s.start(s.behind("b", chatty))
	s.await("b follows", func() bool { return len(log.with(`"identity"="b"`, `"leader"="a"`)) == 1 })
	s.proxy.Refuse()
	s.done(a.lastCtx())
	s.proxy.Heal()
	s.await("somebody leads again", func() bool { note(); return len(tokens) == 2 })
	s.proxy.NoReply(3)
	s.do("CONFIG", "SET", "maxmemory", "1")
	s.do("DEL", s.key)
	s.await("no memory", func() bool { return len(log.with("OOM")) > 0 })
	s.do("CONFIG", "SET", "maxmemory", "0")
	s.await("somebody leads once more", func() bool { note(); return len(tokens) == 3 })
	a.join()
	s.await("a third term", func() bool { note(); return s.holder() == "b" })
	for _, token := range tokens {
		if leaks := log.with(token); len(leaks) > 0 {
			t.Errorf("token %s is in %q", token, leaks)
		}
	}
	if len(tokens) < 3 || len(log.with(`"error"`)) == 0 {
		t.Errorf("%d terms, and %d errors logged: the faults were not injected", len(tokens), len(log.with(`"error"`)))
	}
}
