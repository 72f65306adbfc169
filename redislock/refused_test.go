package redislock

import (
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Obtain does every step that can fail before its first write, because Redis does not
// roll a script back: without the permission for one of them nothing is left behind.
// The token is the caller's own, so that no clean-up deletes it either.
func TestRefusedStepLeavesNoLock(t *testing.T) {
	for _, missing := range []string{"type", "get", "set", "time", "hset", "pexpire"} {
		t.Run(missing, func(t *testing.T) {
			s := ownScene(t)
			s.must(s.redis.Set(t.Context(), appKey+":fence", "7", 0).Err())
			rules := slices.DeleteFunc(s.documented(), func(rule string) bool { return rule == "+"+missing })
			s.must(s.redis.Do(t.Context(), append([]any{"ACL", "SETUSER", "app", "reset"}, words(rules)...)...).Err())
			options := s.server.Options()
			options.Username, options.Password = "app", "secret"
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			_, err := Obtain(t.Context(), client, appKey, long, &Options{Token: "chosen", FenceKey: appKey + ":fence", FenceClock: true})
			wantTrouble(t, err)
			if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), strings.ToUpper(missing)) {
				t.Errorf("error = %v, want NOPERM and the command %q in it", err, missing)
			}
			s.wantGone(appKey)
		})
	}
}

// The same where the counter's key is what the user may not touch.
func TestRefusedCounterLeavesNoLock(t *testing.T) {
	s := ownScene(t)
	s.must(s.redis.Do(t.Context(), append([]any{"ACL", "SETUSER", "app", "reset"}, words(s.documented())...)...).Err())
	options := s.server.Options()
	options.Username, options.Password = "app", "secret"
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	_, err := Obtain(t.Context(), client, appKey, long, &Options{Token: "chosen", FenceKey: "counter{app}"})
	wantTrouble(t, err)
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("error = %v, want NOPERM in it", err)
	}
	s.wantGone(appKey)
}
