package redislock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// appKey is a lock under the default prefix of elections, which the user may touch.
const appKey = "redisleader:{app}"

// documented are the rules of the user that docs/operating.md tells operators to create. HELLO
// and AUTH need no permission. go-redis does without CLIENT SETINFO, which Redis 7.0
// does not know and would not accept in a rule.
func (s *scene) documented() []string {
	s.Helper()
	_, rules, err := redistest.DocumentedUser()
	s.must(err)
	return rules
}

// forAnnouncements are those that are optional. The README says so, and that a lock
// works without.
var forAnnouncements = []string{"+publish", "+subscribe", "+unsubscribe", "+pubsub|numsub", "+ping"}

// actAs lets a user with these rules do everything that a lock can do, and joins what
// was refused.
func (s *scene) actAs(user string, rules []string) error {
	s.Helper()
	s.must(s.redis.Do(s.Context(), append([]any{"ACL", "SETUSER", user, "reset"}, words(rules)...)...).Err())
	s.must(s.redis.FlushDB(s.Context()).Err())
	s.must(s.redis.ScriptFlush(s.Context()).Err())
	options := s.server.Options()
	options.Username, options.Password = user, "secret"
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	app := &scene{T: s.T, key: appKey, fence: appKey + ":fence"}
	var errs []error
	for range 2 { // with unknown scripts, and with known ones
		for _, op := range app.operations(New(client)) {
			errs = append(errs, op.do())
		}
	}
	return errors.Join(errs...)
}

func words(list []string) []any {
	anys := make([]any, len(list))
	for i, word := range list {
		anys[i] = word
	}
	return anys
}

func TestDocumentedUserCanDoEverything(t *testing.T) {
	s := ownScene(t)
	if err := s.actAs("app", s.documented()); err != nil {
		t.Error(err)
	}
	log, err := s.redis.Do(t.Context(), "ACL", "LOG").Slice()
	s.must(err)
	for _, entry := range log {
		if text := fmt.Sprint(entry); !strings.Contains(text, "client|") {
			t.Errorf("refused, though perhaps unnoticed: %s", text)
		}
	}
}

// TestDocumentedUserCanDoNothingElse takes each command away in turn.
func TestDocumentedUserCanDoNothingElse(t *testing.T) {
	s := ownScene(t)
	rules := s.documented()
	for i, rule := range rules {
		if !strings.HasPrefix(rule, "+") || slices.Contains(forAnnouncements, rule) {
			continue
		}
		if err := s.actAs("app", slices.Delete(slices.Clone(rules), i, i+1)); err == nil {
			t.Errorf("nothing needs %s", rule)
		}
	}
}

// A lock whose time to live cannot be set must not be left behind, for it would stay
// for ever.
func TestNothingIsLeftWithoutThePermissionToExpire(t *testing.T) {
	s := ownScene(t)
	for _, token := range []string{"", "chosen"} { // an Obtain with a token of the caller's own does not clean up
		err := s.actAs("app", slices.DeleteFunc(s.documented(), func(rule string) bool { return rule == "+pexpire" }))
		if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "run PEXPIRE") {
			t.Errorf("error %v does not name the command", err)
		}
		s.must(s.redis.Do(s.Context(), "ACL", "SETUSER", s.user(), "-pexpire").Err())
		if _, err := s.client.Obtain(s.Context(), appKey, long, &Options{Token: token}); err == nil {
			t.Error("obtained")
		}
		s.must(s.redis.Do(s.Context(), "ACL", "SETUSER", s.user(), "+pexpire").Err())
		if n := s.redis.Exists(s.Context(), appKey).Val(); n != 0 {
			t.Errorf("token %q: the lock is left with a ttl of %v", token, s.redis.PTTL(s.Context(), appKey).Val())
		}
	}
}
