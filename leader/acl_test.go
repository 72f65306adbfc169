package leader

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// documentedUser returns the name and the rules of the user that the README tells operators to create.
func documentedUser(t *testing.T) (name string, rules []string) {
	t.Helper()
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(readme)) {
		if after, ok := strings.CutPrefix(strings.TrimSpace(line), "ACL SETUSER "); ok {
			words := strings.Fields(after)
			return words[0], words[1:]
		}
	}
	t.Fatal("the README has no line ACL SETUSER")
	return "", nil
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

// handOver has two candidates with these options elect, hand over, lose and end, and returns how long the hand-over took.
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

// Without channels, or the commands for them, elections work and say once what is missing.
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

// Each command that an election cannot do without is named when it is missing.
func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	name, rules := documentedUser(t)
	for _, missing := range []string{"evalsha", "hset", "pexpire", "time", "set"} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			as := s.restrict(name, slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == "+"+missing }))
			var log journal
			a := s.start(s.beside("a", func(cfg *Config, _ *replica) { cfg.Logger = log.logger(0) }, as))
			s.await("the missing command is named", func() bool { return len(log.with("Cannot obtain the lock", "NOPERM", missing)) > 0 || len(log.with("Cannot obtain the lock", "NOPERM", strings.ToUpper(missing))) > 0 })
			if a.starts() != 0 {
				t.Error("leads all the same")
			}
		})
	}
}
