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
	w := watching(t, New(s.redis), job)
	lock, err := Obtain(t.Context(), client, job, long, &Options{Announce: true})
	s.must(err)
	expect(t, w, Taken)
	wantTrouble(t, lock.Release(t.Context()))
	s.wantField(job, "token", lock.Token()) // held as before
	s.must(s.redis.Publish(t.Context(), Channel(job), "taken").Err())
	if a := heard(t, w); a.Kind != Taken {
		t.Errorf("heard %+v of a lock that is held", a)
	}
}
