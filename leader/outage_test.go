package leader

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// B9: the server refuses everybody. None of these replies says who holds the lock. A
// leader stays one if they end before its deadline. Each is logged as an error once and
// then counted, and nobody retries without a pause.

// refusal is a state of the server in which it answers scripts with an error.
type refusal struct {
	code   string
	text   string   // in the error; default: code
	config []string // of the server
	client func(*redis.Options)
	setUp  func(*environment)
	begin  func(*environment)
	end    func(*environment)
}

var refusals = []refusal{
	{
		code:  "READONLY",
		begin: func(env *environment) { env.do("REPLICAOF", "127.0.0.1", "1") },
		end:   func(env *environment) { env.do("REPLICAOF", "NO", "ONE") },
	},
	{
		code:   "MISCONF",
		config: []string{"--save", "3600 1000000"},
		begin: func(env *environment) {
			env.block(true)
			env.snapshot("err")
		},
		end: func(env *environment) {
			env.block(false)
			env.snapshot("ok")
		},
	},
	{
		code:  "NOPERM",
		begin: func(env *environment) { env.do("ACL", "SETUSER", env.user(), "-evalsha", "-eval") },
		end:   func(env *environment) { env.do("ACL", "SETUSER", env.user(), "+evalsha", "+eval") },
	},
	{
		code:   "NOAUTH",
		client: func(o *redis.Options) { o.Username, o.Password = "", "" },
		begin:  func(env *environment) { env.do("CONFIG", "SET", "requirepass", "secret"); env.proxy.Cut() },
		end:    func(env *environment) { env.do("CONFIG", "SET", "requirepass", "") },
	},
	{
		code:   "CLUSTERDOWN",
		config: []string{"--cluster-enabled", "yes"},
		setUp:  func(env *environment) { env.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383); env.clusterUp() },
		begin:  func(env *environment) { env.do("CLUSTER", "DELSLOTS", 0) }, // it then serves none
		end:    func(env *environment) { env.do("CLUSTER", "ADDSLOTS", 0) },
	},
}

// block puts a directory where the server's snapshot goes, so that it cannot be
// written, or removes it.
func (env *environment) block(on bool) {
	env.Helper()
	path := filepath.Join(env.server.Dir(), "dump.rdb")
	err := os.RemoveAll(path)
	if on {
		err = errors.Join(err, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	}
	if err != nil {
		env.Fatal(err)
	}
}

// snapshot makes the server try one and waits until it has ended with this outcome.
func (env *environment) snapshot(outcome string) {
	env.Helper()
	env.do("BGSAVE")
	env.await("a snapshot that ends with "+outcome, func() bool {
		info := env.redis.Info(context.Background(), "persistence").Val()
		return strings.Contains(info, "rdb_bgsave_in_progress:0") && strings.Contains(info, "rdb_last_bgsave_status:"+outcome)
	})
}

func (env *environment) clusterUp() {
	env.Helper()
	env.await("the cluster is up", func() bool {
		return strings.Contains(env.redis.ClusterInfo(context.Background()).Val(), "cluster_state:ok")
	})
}

func TestB9_RefusalsAreNeitherWonNorLost(t *testing.T) {
	for _, refusal := range refusals {
		t.Run(refusal.code, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t, refusal.config...)
			if refusal.setUp != nil {
				refusal.setUp(env)
			}
			// go-redis would repeat some of these until the attempt's time is over, and
			// then report only that.
			options := []func(*redis.Options){noRetries}
			if refusal.client != nil {
				options = append(options, refusal.client)
			}
			var log, otherLog logLines
			var seen, other *attemptCounter
			a := env.lead(env.behind("a", func(cfg *Config, r *replica) {
				cfg.LeaseDuration = 2 * testLease // deadline 2 s, renewal 1 s
				seen = newAttemptCounter(r)
				cfg.Logger, cfg.Observer = log.logger(0), seen
			}, options...))
			term := a.lastTerm()
			refusal.begin(env)
			outsider := env.behind("outsider", func(cfg *Config, r *replica) {
				// An attempt has 400 ms. One that is too slow would leave a lock
				// behind.
				cfg.Name, cfg.LeaseDuration = "other", 2*testLease
				other = newAttemptCounter(r)
				cfg.Logger, cfg.Observer = otherLog.logger(0), other
			}, options...)
			begin := time.Now()
			env.start(outsider)
			env.await("refused renewals", func() bool { return seen.renewed(failed) >= 2 })
			env.await("refused candidates", func() bool { return other.acquires(AcquireFailed) >= 3 })
			attempts, took := other.acquires(AcquireFailed), time.Since(begin)
			refusal.end(env)
			env.await("a renewal", func() bool { return !a.IsLeader() || seen.renewed(succeeded) > 0 })
			if !a.IsLeader() || a.lastTerm() != term {
				t.Errorf("a lost its term: %v", term.Check())
			}
			env.await("the outsider leads", outsider.atWork)

			// The first, and one on the subscription.
			if attempts > int(took/outsider.timing.retry)+2 {
				t.Errorf("%d attempts in %v with a RetryPeriod of %v: it does not wait between them", attempts, took, outsider.timing.retry)
			}
			if other.acquires(AcquireHeld) != 0 || outsider.starts() != 1 {
				t.Errorf("an error was read as held %d times, as won %d times", other.acquires(AcquireHeld), outsider.starts()-1)
			}
			for _, j := range []*logLines{&log, &otherLog} {
				if errors := j.with(`"error"="`, cmp.Or(refusal.text, refusal.code)); len(errors) != 1 {
					t.Errorf("%d error lines with %s: %q", len(errors), refusal.code, j.all())
				}
				if over := j.with("answers again"); len(over) != 1 {
					t.Errorf("no line counts the errors: %q", j.all())
				}
			}
		})
	}
}

// Out of memory, a leader goes on leading and can release. Nobody can become the
// leader.
func TestB9_OutOfMemory(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	var log logLines
	var seen *attemptCounter
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = testLease / 2 }))
	term := a.lastTerm()
	env.do("CONFIG", "SET", "maxmemory", "1")
	b := env.start(env.behind("b", func(cfg *Config, r *replica) {
		seen = newAttemptCounter(r)
		cfg.Logger, cfg.Observer = log.logger(0), seen
	}, noRetries))
	time.Sleep(testLease)
	if !a.IsLeader() || a.lastTerm() != term || b.GetLeader() != "a" {
		t.Errorf("a leads %t, b says that %q leads", a.IsLeader(), b.GetLeader())
	}
	if err := a.join(); err != nil || env.holder() != "" {
		t.Errorf("Run = %v, %q holds the lock", err, env.holder())
	}
	env.await("refused attempts", func() bool { return seen.acquires(AcquireFailed) >= 3 })
	if b.starts() != 0 || len(log.with(`"error"="`, "OOM")) != 1 {
		t.Errorf("%d starts, logged %q", b.starts(), log.all())
	}
	env.do("CONFIG", "SET", "maxmemory", "0")
	env.await("b leads", b.atWork)
}

// A server that restarts answers LOADING until it has read its snapshot, with the lock
// in it: the leader stays one.
func TestB9_Loading(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t, "--key-load-delay", "200", "--loading-process-events-interval-bytes", "1024")
	env.fill(5000)
	var log logLines
	a := env.lead(env.behind("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 6 * testLease
		cfg.RenewDeadline = 5 * testLease
		cfg.Logger = log.logger(1)
	}, noRetries))
	b := env.start(env.behind("b", func(cfg *Config, _ *replica) { cfg.Logger = log.logger(1) }, noRetries))
	env.await("b follows", func() bool { return b.GetLeader() == "a" })
	term := a.lastTerm()
	env.do("SAVE")
	env.server.Shutdown()
	env.server.Restart() // returns when all is loaded
	env.await("it is over", func() bool { return len(log.with("answers again", "LOADING")) > 0 })
	if !a.IsLeader() || a.lastTerm() != term || b.starts() != 0 || env.holder() != "a" {
		t.Errorf("a leads %t (%v), b has started %d times, %q holds the lock", a.IsLeader(), term.Check(), b.starts(), env.holder())
	}
}

// fill writes that many keys of a kilobyte.
func (env *environment) fill(keys int) {
	env.Helper()
	value := strings.Repeat("x", 1000)
	_, err := env.redis.Pipelined(context.Background(), func(p redis.Pipeliner) error {
		for i := range keys {
			p.Set(context.Background(), "filler:"+strings.Repeat("0", i%7)+time.Duration(i).String(), value, 0)
		}
		return nil
	})
	if err != nil {
		env.Fatal(err)
	}
}
