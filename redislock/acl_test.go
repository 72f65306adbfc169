package redislock

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
)

// appKey is a lock with the default prefix of elections, which the documented user may
// access.
const appKey = "redisleader:{app}"

// documented returns the rules of the user that docs/operating.md tells operators to
// create. HELLO and AUTH need no permission. go-redis can do without CLIENT SETINFO,
// which Redis 7.0 does not know and would not accept in a rule.
func (e *environment) documented() []string {
	e.Helper()
	_, rules, err := redistest.DocumentedUser()
	e.must(err)
	return rules
}

// forAnnouncements are the rules that are optional, because locks work without
// announcements.
var forAnnouncements = []string{"+publish", "+subscribe", "+unsubscribe", "+pubsub|numsub", "+ping"}

// actAs lets a user with these rules run every operation of a lock, and joins the
// errors.
func (e *environment) actAs(user string, rules []string) error {
	e.Helper()
	client := e.as(user, rules...)
	defer func() { _ = client.Close() }() // early, because tests call actAs in a loop
	e.must(e.redis.FlushDB(e.Context()).Err())
	e.must(e.redis.ScriptFlush(e.Context()).Err())
	app := &environment{T: e.T, key: appKey, fence: appKey + ":fence"}
	var errs []error
	for range 2 { // first with unknown scripts, then with known ones
		for _, op := range app.operations(New(client)) {
			errs = append(errs, op.do())
		}
	}
	return errors.Join(errs...)
}

func TestDocumentedUserCanDoEverything(t *testing.T) {
	e := onOwnServer(t)
	if err := e.actAs("app", e.documented()); err != nil {
		t.Error(err)
	}
	log, err := e.redis.Do(t.Context(), "ACL", "LOG").Slice()
	e.must(err)
	for _, entry := range log {
		if text := fmt.Sprint(entry); !strings.Contains(text, "client|") {
			t.Errorf("denied, though perhaps without an error: %s", text)
		}
	}
}

// TestDocumentedUserCanDoNothingElse takes each command away in turn.
func TestDocumentedUserCanDoNothingElse(t *testing.T) {
	e := onOwnServer(t)
	rules := e.documented()
	for i, rule := range rules {
		if !strings.HasPrefix(rule, "+") || slices.Contains(forAnnouncements, rule) {
			continue
		}
		if err := e.actAs("app", slices.Delete(slices.Clone(rules), i, i+1)); err == nil {
			t.Errorf("nothing needs %s", rule)
		}
	}
}

// A lock whose time to live cannot be set must not be left behind, because it would
// stay forever.
func TestNothingIsLeftWithoutThePermissionToExpire(t *testing.T) {
	e := onOwnServer(t)
	// With an explicit token, Obtain does not clean up.
	for _, token := range []string{"", "chosen"} {
		err := e.actAs("app", slices.DeleteFunc(e.documented(), func(rule string) bool { return rule == "+pexpire" }))
		if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), "run PEXPIRE") {
			t.Errorf("error %v does not name the command", err)
		}
		e.must(e.redis.Do(e.Context(), "ACL", "SETUSER", e.user(), "-pexpire").Err())
		if _, err := e.client.Obtain(e.Context(), appKey, long, &Options{Token: token}); err == nil {
			t.Error("obtained")
		}
		e.must(e.redis.Do(e.Context(), "ACL", "SETUSER", e.user(), "+pexpire").Err())
		if n := e.redis.Exists(e.Context(), appKey).Val(); n != 0 {
			t.Errorf("token %q: the lock is left with a ttl of %v", token, e.redis.PTTL(e.Context(), appKey).Val())
		}
	}
}
