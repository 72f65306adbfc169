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

// documentedUser returns the name and the rules of the user that docs/operating.md
// tells operators to create.
func documentedUser(t *testing.T) (name string, rules []string) {
	t.Helper()
	name, rules, err := redistest.DocumentedUser()
	if err != nil {
		t.Fatal(err)
	}
	return name, rules
}

// restrict creates a user and returns the option that makes a client log in as that
// user.
func (env *environment) restrict(name string, rules []string) func(*redis.Options) {
	env.Helper()
	command := []any{"ACL", "SETUSER", name}
	for _, rule := range rules {
		command = append(command, rule)
	}
	env.do(command...)
	return func(o *redis.Options) { o.Username, o.Password = name, "secret" }
}

// handOver runs two candidates with these options, stops the one that leads and then
// the other, and returns how long the hand-over took.
func (env *environment) handOver(options ...func(*redis.Options)) time.Duration {
	env.Helper()
	// RetryPeriod 1.3 s.
	slow := func(cfg *Config, _ *replica) { cfg.LeaseDuration = 10 * time.Second }
	a, b := env.lead(env.beside("a", slow, options...)), env.start(env.beside("b", slow, options...))
	env.await("b follows", func() bool { return b.GetLeader() == "a" })
	if err := a.join(); err != nil {
		env.Error(err)
	}
	took := env.await("b leads", b.atWork)
	if err := b.join(); err != nil {
		env.Error(err)
	}
	return took
}

func TestDocumentedUserCanElect(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	as := env.restrict(documentedUser(t))
	if took := env.handOver(as); took > time.Second {
		t.Errorf("the hand-over took %v: the announcement was not heard", took)
	}
	log, err := env.redis.Do(t.Context(), "ACL", "LOG").Slice()
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range log {
		// go-redis tries CLIENT commands, and can do without them.
		if text := fmt.Sprint(entry); !strings.Contains(text, "client|") {
			t.Errorf("refused: %s", text)
		}
	}
}

// Elections work without permission for the channels and their commands. The log says
// once what is missing.
func TestUserWithoutAnnouncementsCanElect(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	name, rules := documentedUser(t)
	rules = slices.DeleteFunc(rules, func(rule string) bool {
		return strings.HasPrefix(rule, "&") || strings.Contains(rule, "sub") || rule == "+publish" || rule == "+ping"
	})
	as := env.restrict(name, rules)
	env.handOver(as)

	var log logLines
	env.lead(env.beside("c", nil, as))
	d := env.start(env.beside("d", func(cfg *Config, _ *replica) { cfg.Logger = log.logger(0) }, as))
	env.await("d says that announcements are missing", func() bool { return len(log.with("Announcements", "NOPERM")) > 0 })
	env.await("d has looked a few times more", func() bool { return d.GetLeader() == "c" })
	time.Sleep(3 * d.timing.retry)
	if lines := log.with("Announcements"); len(lines) != 1 {
		t.Errorf("logged %q, want one line", lines)
	}
}

// If the user may not run a command that an election needs, the log names it.
func TestMissingPermissionIsNamed(t *testing.T) {
	t.Parallel()
	name, rules := documentedUser(t)
	const obtain, renew, release = "Cannot obtain the lock", "Cannot renew the lease", "Cannot release the lock"
	for missing, messages := range map[string][]string{
		"evalsha": {obtain},
		"eval":    {obtain},
		"type":    {obtain},
		"hset":    {obtain},
		"pexpire": {obtain},
		"get":     {obtain},
		"set":     {obtain},
		"time":    {obtain},
		"hmget":   {obtain, renew}, // a follower, a leader
		"pttl":    {obtain},        // a follower
		"hget":    {release},
		"del":     {release},
	} {
		t.Run(missing, func(t *testing.T) {
			t.Parallel()
			env := newEnvironment(t)
			env.do("SET", FenceKey("", "test"), "7")
			as := env.restrict(name, slices.DeleteFunc(slices.Clone(rules), func(rule string) bool { return rule == "+"+missing }))
			var log logLines
			logged := func(cfg *Config, _ *replica) { cfg.Logger = log.logger(0) }
			a, b := env.start(env.beside("a", logged, as)), env.start(env.beside("b", logged, as))
			if slices.Contains(messages, release) {
				env.await("one leads", func() bool { return a.atWork() || b.atWork() })
				_, _ = a.join(), b.join()
			}
			for _, message := range messages {
				env.await(message+" names the missing command", func() bool {
					return len(log.with(message, "NOPERM", "'"+missing+"'"))+len(log.with(message, "NOPERM", strings.ToUpper(missing))) > 0
				})
			}
			if starts := a.starts() + b.starts(); starts > 1 || starts == 1 && slices.Contains([]string{"evalsha", "eval", "type", "hset", "pexpire", "get", "set", "time"}, missing) {
				t.Errorf("%d lead nevertheless", starts)
			}
		})
	}
}
