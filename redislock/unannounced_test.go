package redislock

import (
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
)

// A release that fails is not announced: the announcement follows the delete.
func TestFailedReleaseIsNotAnnounced(t *testing.T) {
	s := ownScene(t)
	rules := slices.DeleteFunc(s.documented(), func(rule string) bool { return rule == "+del" })
	s.must(s.redis.Do(t.Context(), append([]any{"ACL", "SETUSER", "app", "reset"}, words(rules)...)...).Err())
	options := s.server.Options()
	options.Username, options.Password = "app", "secret"
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	heard := s.eavesdrop(Channels(job)...)
	lock, err := Obtain(t.Context(), client, job, long, &Options{Announce: true})
	s.must(err)
	wantTrouble(t, lock.Release(t.Context()))
	s.wantField(job, "token", lock.Token()) // held as before
	if told := s.told(heard, Channels(job)[0]); len(told) != 0 {
		t.Errorf("heard %q of a lock that is held", told)
	}
}
