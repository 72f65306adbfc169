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
	heard := s.redis.Subscribe(t.Context(), Channel(job)) // a Watch would replace what was not read yet
	defer func() { _ = heard.Close() }()
	_, err := heard.Receive(t.Context())
	s.must(err)
	lock, err := Obtain(t.Context(), client, job, long, &Options{Announce: true})
	s.must(err)
	wantTrouble(t, lock.Release(t.Context()))
	s.wantField(job, "token", lock.Token()) // held as before
	s.must(s.redis.Publish(t.Context(), Channel(job), "taken by hand").Err())
	for _, want := range []string{"taken", "taken by hand"} {
		message, err := heard.ReceiveMessage(t.Context())
		s.must(err)
		if message.Payload != want {
			t.Errorf("heard %q of a lock that is held, want %q", message.Payload, want)
		}
	}
}
