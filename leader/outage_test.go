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

// B9: replies that say no to everybody. None of them is read as won or lost; the
// transient ones cost a leader nothing if they end before its deadline; each is logged
// as an error once and then counted; nobody spins.

// refusal is a state of the server in which it answers scripts with an error.
type refusal struct {
	code   string
	text   string   // in the error; default: code
	config []string // of the server
	client func(*redis.Options)
	setUp  func(*scene)
	begin  func(*scene)
	end    func(*scene)
}

var refusals = []refusal{
	{
		code:  "READONLY",
		begin: func(s *scene) { s.do("REPLICAOF", "127.0.0.1", "1") },
		end:   func(s *scene) { s.do("REPLICAOF", "NO", "ONE") },
	},
	{
		code:   "MISCONF",
		config: []string{"--save", "3600 1000000"},
		begin: func(s *scene) {
			s.block(true)
			s.snapshot("err")
		},
		end: func(s *scene) {
			s.block(false)
			s.snapshot("ok")
		},
	},
	{
		code:  "NOPERM",
		begin: func(s *scene) { s.do("ACL", "SETUSER", s.user(), "-evalsha", "-eval") },
		end:   func(s *scene) { s.do("ACL", "SETUSER", s.user(), "+evalsha", "+eval") },
	},
	{
		code:   "NOAUTH",
		client: func(o *redis.Options) { o.Username, o.Password = "", "" },
		begin:  func(s *scene) { s.do("CONFIG", "SET", "requirepass", "secret"); s.proxy.Cut() },
		end:    func(s *scene) { s.do("CONFIG", "SET", "requirepass", "") },
	},
	{
		code:   "CLUSTERDOWN",
		config: []string{"--cluster-enabled", "yes"},
		setUp:  func(s *scene) { s.do("CLUSTER", "ADDSLOTSRANGE", 0, 16383); s.clusterUp() },
		begin:  func(s *scene) { s.do("CLUSTER", "DELSLOTS", 0) }, // it then serves none
		end:    func(s *scene) { s.do("CLUSTER", "ADDSLOTS", 0) },
	},
}

// block puts a directory where the server's snapshot goes, so that it cannot be
// written, or removes it.
func (s *scene) block(on bool) {
	s.Helper()
	path := filepath.Join(s.server.Dir(), "dump.rdb")
	err := os.RemoveAll(path)
	if on {
		err = errors.Join(err, os.MkdirAll(filepath.Join(path, "full"), 0o700))
	}
	if err != nil {
		s.Fatal(err)
	}
}

// snapshot makes the server try one and waits for it to end as said.
func (s *scene) snapshot(outcome string) {
	s.Helper()
	s.do("BGSAVE")
	s.await("a snapshot that ends with "+outcome, func() bool {
		info := s.redis.Info(context.Background(), "persistence").Val()
		return strings.Contains(info, "rdb_bgsave_in_progress:0") && strings.Contains(info, "rdb_last_bgsave_status:"+outcome)
	})
}

func (s *scene) clusterUp() {
	s.Helper()
	s.await("the cluster is up", func() bool {
		return strings.Contains(s.redis.ClusterInfo(context.Background()).Val(), "cluster_state:ok")
	})
}

func TestB9_RefusalsAreNeitherWonNorLost(t *testing.T) {
	for _, refusal := range refusals {
		t.Run(refusal.code, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, refusal.config...)
			if refusal.setUp != nil {
				refusal.setUp(s)
			}
			// go-redis would repeat some of these until the attempt's time is over, and
			// then tell of that alone.
			options := []func(*redis.Options){noRetries}
			if refusal.client != nil {
				options = append(options, refusal.client)
			}
			var log, otherLog journal
			var seen, other *tally
			a := s.lead(s.behind("a", func(cfg *Config, r *replica) {
				cfg.LeaseDuration = 2 * testLease // deadline 2 s, renewal 1 s
				seen = newTally(r)
				cfg.Logger, cfg.Observer = log.logger(0), seen
			}, options...))
			term := a.lastTerm()
			refusal.begin(s)
			outsider := s.behind("outsider", func(cfg *Config, r *replica) {
				cfg.Name, cfg.LeaseDuration = "other", 2*testLease // an attempt has 400 ms: one that is too slow leaves a lock to run out
				other = newTally(r)
				cfg.Logger, cfg.Observer = otherLog.logger(0), other
			}, options...)
			begin := time.Now()
			s.start(outsider)
			s.await("refused renewals", func() bool { return seen.renewed(failed) >= 2 })
			s.await("refused candidates", func() bool { return other.acquires(AcquireFailed) >= 3 })
			attempts, took := other.acquires(AcquireFailed), time.Since(begin)
			refusal.end(s)
			s.await("a renewal", func() bool { return !a.IsLeader() || seen.renewed(succeeded) > 0 })
			if !a.IsLeader() || a.lastTerm() != term {
				t.Errorf("a lost its term: %v", term.Check())
			}
			s.await("the outsider leads", outsider.atWork)

			if attempts > int(took/outsider.timing.retry)+2 { // the first, and one on the subscription
				t.Errorf("%d attempts in %v with a RetryPeriod of %v: it spins", attempts, took, outsider.timing.retry)
			}
			if other.acquires(AcquireHeld) != 0 || outsider.starts() != 1 {
				t.Errorf("an error was read as held %d times, as won %d times", other.acquires(AcquireHeld), outsider.starts()-1)
			}
			for _, j := range []*journal{&log, &otherLog} {
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

// Without memory a leader goes on leading and can release; nobody can become one.
func TestB9_OutOfMemory(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var log journal
	var seen *tally
	a := s.lead(s.behind("a", func(cfg *Config, _ *replica) { cfg.LeaseDuration = testLease / 2 }))
	term := a.lastTerm()
	s.do("CONFIG", "SET", "maxmemory", "1")
	b := s.start(s.behind("b", func(cfg *Config, r *replica) {
		seen = newTally(r)
		cfg.Logger, cfg.Observer = log.logger(0), seen
	}, noRetries))
	time.Sleep(testLease)
	if !a.IsLeader() || a.lastTerm() != term || b.GetLeader() != "a" {
		t.Errorf("a leads %t, b says that %q leads", a.IsLeader(), b.GetLeader())
	}
	if err := a.join(); err != nil || s.holder() != "" {
		t.Errorf("Run = %v, %q holds the lock", err, s.holder())
	}
	s.await("refused attempts", func() bool { return seen.acquires(AcquireFailed) >= 3 })
	if b.starts() != 0 || len(log.with(`"error"="`, "OOM")) != 1 {
		t.Errorf("%d starts, logged %q", b.starts(), log.all())
	}
	s.do("CONFIG", "SET", "maxmemory", "0")
	s.await("b leads", b.atWork)
}

// A server that restarts answers LOADING until it has read its snapshot, with the lock
// in it: the leader stays one.
func TestB9_Loading(t *testing.T) {
	t.Parallel()
	s := newScene(t, "--key-load-delay", "200", "--loading-process-events-interval-bytes", "1024")
	s.fill(5000)
	var log journal
	a := s.lead(s.behind("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = 6 * testLease
		cfg.RenewDeadline = 5 * testLease
		cfg.Logger = log.logger(1)
	}, noRetries))
	b := s.start(s.behind("b", func(cfg *Config, _ *replica) { cfg.Logger = log.logger(1) }, noRetries))
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	term := a.lastTerm()
	s.do("SAVE")
	s.server.Shutdown()
	s.server.Restart() // returns when all is loaded
	s.await("it is over", func() bool { return len(log.with("answers again", "LOADING")) > 0 })
	if !a.IsLeader() || a.lastTerm() != term || b.starts() != 0 || s.holder() != "a" {
		t.Errorf("a leads %t (%v), b has started %d times, %q holds the lock", a.IsLeader(), term.Check(), b.starts(), s.holder())
	}
}

// fill writes that many keys of a kilobyte.
func (s *scene) fill(keys int) {
	s.Helper()
	value := strings.Repeat("x", 1000)
	_, err := s.redis.Pipelined(context.Background(), func(p redis.Pipeliner) error {
		for i := range keys {
			p.Set(context.Background(), "filler:"+strings.Repeat("0", i%7)+time.Duration(i).String(), value, 0)
		}
		return nil
	})
	if err != nil {
		s.Fatal(err)
	}
}
