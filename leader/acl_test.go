package leader

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// documentedUser returns the name and the rules of the user that the README tells
// operators to create.
func documentedUser(t *testing.T) (name string, rules []string) {
	t.Helper()
	name, rules, err := redistest.DocumentedUser()
	if err != nil {
		t.Fatal(err)
	}
	return name, rules
}

// restrict creates the user and returns what makes a client be that user.
func (s *scene) restrict(name string, rules []string) func(*redis.Options) {
	s.Helper()
	command := []any{"ACL", "SETUSER", name}
	for _, rule := range rules {
		command = append(command, rule)
	}
	s.do(command...)
	return func(o *redis.Options) { o.Username, o.Password = name, "secret" }
}

// handOver has two candidates with these options elect, hand over, lose and end, and
// returns how long the hand-over took.
func (s *scene) handOver(options ...func(*redis.Options)) time.Duration {
	s.Helper()
	slow := func(cfg *Config, _ *replica) { cfg.LeaseDuration = 10 * time.Second } // RetryPeriod 1.3 s
	a, b := s.lead(s.beside("a", slow, options...)), s.start(s.beside("b", slow, options...))
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	if err := a.join(); err != nil {
		s.Error(err)
	}
	took := s.await("b leads", b.atWork)
	if err := b.join(); err != nil {
		s.Error(err)
	}
	return took
}

func TestDocumentedUserCanElect(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	as := s.restrict(documentedUser(t))
	if took := s.handOver(as); took > time.Second {
		t.Errorf("the hand-over took %v: the announcement was not heard", took)
	}
	log, err := s.redis.Do(t.Context(), "ACL", "LOG").Slice()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range log {
		if text := fmt.Sprint(entry); !strings.Contains(text, "client|") { // of go-redis, which does without
			t.Errorf("refused: %s", text)
		}
	}
}

// Without channels, or the commands for them, elections work and say once what is
// missing.
func TestUserWithoutAnnouncementsCanElect(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	name, rules := documentedUser(t)
	rules = slices.DeleteFunc(rules, func(rule string) bool {
		return strings.HasPrefix(rule, "&") || strings.Contains(rule, "sub") || rule == "+publish" || rule == "+ping"
	})
	as := s.restrict(name, rules)
	s.handOver(as)

	var log journal
	s.lead(s.beside("c", nil, as))
	d := s.start(s.beside("d", func(cfg *Config, _ *replica) { cfg.Logger = log.logger(0) }, as))
	s.await("d says that announcements are missing", func() bool { return len(log.with("Announcements", "NOPERM")) > 0 })
	s.await("d has looked a few times more", func() bool { return d.GetLeader() == "c" })
	time.Sleep(3 * d.timing.retry)
	if lines := log.with("Announcements"); len(lines) != 1 {
		t.Errorf("logged %q, want one line", lines)
	}
}

// Each command that an election cannot do without is named when it is missing, by
// whoever needs it.
func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	name, rules := documentedUser(t)
	for missing, message := range map[string]string{
		"evalsha": "Cannot obtain the lock",
		"eval":    "Cannot obtain the lock",
		"type":    "Cannot obtain the lock",
		"hset":    "Cannot obtain the lock",
		"pexpire": "Cannot obtain the lock",
		"get":     "Cannot obtain the lock",
		"set":     "Cannot obtain the lock",
		"time":    "Cannot obtain the lock",
		"hmget":   "Cannot obtain the lock", // of a follower
		"pttl":    "Cannot obtain the lock", // of a follower
		"hget":    "Cannot renew the lease",
		"del":     "Cannot release the lock",
	} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			s.do("SET", fenceKey(s.key), "7")
			as := s.restrict(name, slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == "+"+missing }))
			var log journal
			logged := func(cfg *Config, _ *replica) { cfg.Logger = log.logger(0) }
			a, b := s.start(s.beside("a", logged, as)), s.start(s.beside("b", logged, as))
			if missing == "del" {
				s.await("one leads", func() bool { return a.atWork() || b.atWork() })
				_, _ = a.join(), b.join()
			}
			s.await("the missing command is named", func() bool {
				return len(log.with(message, "NOPERM", "'"+missing+"'"))+len(log.with(message, "NOPERM", strings.ToUpper(missing))) > 0
			})
			if starts := a.starts() + b.starts(); starts > 1 || starts == 1 && slices.Contains([]string{"evalsha", "eval", "type", "hset", "pexpire", "get", "set", "time"}, missing) {
				t.Errorf("%d lead all the same", starts)
			}
		})
	}
}
