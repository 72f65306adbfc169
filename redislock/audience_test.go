package redislock

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"
)

// eavesdrop subscribes to channels on a connection of its own, which unlike a Watch
// loses nothing that was not read yet.
func (s *scene) eavesdrop(channels ...string) *redis.PubSub {
	s.Helper()
	heard := s.redis.Subscribe(s.Context(), channels...)
	s.Cleanup(func() { _ = heard.Close() })
	for range channels {
		_, err := heard.Receive(s.Context())
		s.must(err)
	}
	return heard
}

// told is what was heard so far; channel is one that is listened to.
func (s *scene) told(heard *redis.PubSub, channel string) (payloads []string) {
	s.Helper()
	const end = "end of the recording"
	s.must(s.redis.Publish(s.Context(), channel, end).Err())
	for {
		message, err := heard.ReceiveMessage(s.Context())
		s.must(err)
		if message.Payload == end {
			return payloads
		}
		payloads = append(payloads, message.Payload)
	}
}

// handOver obtains a lock and releases it, both announced.
func (s *scene) handOver(client RedisClient, key string) {
	s.Helper()
	lock, err := Obtain(s.Context(), client, key, long, &Options{Announce: true})
	s.must(err)
	s.must(lock.Release(s.Context()))
}

// A release is told to all of few and to at least four of many, to each once, with how
// many were told on the same channel.
func TestReleaseIsToldToAFewOfMany(t *testing.T) {
	s := ownScene(t)
	for row, c := range []struct {
		listeners []int // on each channel
		told      []int // how many it may be told to
	}{
		{[]int{1, 0, 0, 0}, []int{1}},
		{[]int{0, 0, 0, 1}, []int{1}},
		{[]int{0, 2, 0, 1}, []int{3}},
		{[]int{1, 1, 1, 1}, []int{4}},
		{[]int{3, 3, 3, 3}, []int{6}},
		{[]int{4, 4, 4, 4}, []int{4}},
		{[]int{9, 0, 0, 0}, []int{9}},
		{[]int{5, 5, 5, 5}, []int{5}},
		{[]int{0, 3, 0, 6}, []int{6, 9}},
	} {
		key := fmt.Sprint(job, row)
		var heard [channels][]*redis.PubSub
		for i, n := range c.listeners {
			for range n {
				heard[i] = append(heard[i], s.eavesdrop(Channels(key)[i]))
			}
		}
		s.handOver(s.app, key)
		told := 0
		for i, connections := range heard {
			for _, connection := range connections {
				payloads := s.told(connection, Channels(key)[i])
				if len(payloads) > 1 {
					t.Errorf("%v: one was told %q", c.listeners, payloads)
				}
				for _, payload := range payloads {
					told++
					if _, n, _ := decode(payload); n != len(connections) {
						t.Errorf("%v: %q on channel %d", c.listeners, payload, i)
					}
				}
			}
		}
		if !slices.Contains(c.told, told) {
			t.Errorf("%v: told to %d, want %v", c.listeners, told, c.told)
		}
	}
}

// No channel is the first each time: one whose listeners are all frozen must not be the
// only one that is told.
func TestReleaseIsToldToOthersEachTime(t *testing.T) {
	s := ownScene(t)
	var heard [channels]*redis.PubSub
	for i, channel := range Channels(job) {
		heard[i] = s.eavesdrop(channel)
	}
	for range 4 {
		s.eavesdrop(Channels(job)[0]) // enough by themselves
	}
	const releases = 50
	for range releases {
		s.handOver(s.app, job)
	}
	for i, channel := range Channels(job) {
		if n := len(s.told(heard[i], channel)); n == 0 || i > 0 && n == releases {
			t.Errorf("channel %d was told of %d of %d releases", i, n, releases)
		}
	}
}

// Who may not count the listeners, or does not see them because they listen by way of
// another server, tells all.
func TestReleaseIsToldToAllIfNobodyIsKnownToListen(t *testing.T) {
	s := ownScene(t)
	s.must(s.redis.Do(t.Context(), "ACL", "SETUSER", "blind", "on", ">secret", "allchannels", "~*", "+@all", "-pubsub").Err())
	options := s.server.Options()
	options.Username, options.Password = "blind", "secret"
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	heard := s.eavesdrop(Channels(job)...)
	s.handOver(client, job)
	if told := s.told(heard, Channels(job)[0]); len(told) != channels {
		t.Errorf("heard %q, want one on each of %d channels", told, channels)
	}
}

// Who was told of a release together with others tells them that it was faster. Who was
// alone, or told nothing, does not.
func TestWhoWasToldTogetherHearsThatTheLockIsTaken(t *testing.T) {
	s := ownScene(t)
	heard := s.eavesdrop(Channels(job)...) // one listener more on each channel
	one, other := New(s.app), New(s.app)
	one.hub.channel, other.hub.channel = 3, 3
	w := watching(t, one, job)
	lock, err := one.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	if told := s.told(heard, Channels(job)[3]); len(told) != 0 {
		t.Errorf("heard %q before any release", told)
	}
	w2 := watching(t, other, job)
	s.must(lock.Release(t.Context()))
	expect(t, w, Released)
	expect(t, w2, Released)
	_, err = one.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	expect(t, w2, Taken)
}

func TestLoneListenerDoesNotTellItself(t *testing.T) {
	s := ownScene(t)
	client := New(s.app)
	w := watching(t, client, job)
	for range 2 {
		lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
		s.must(err)
		s.must(lock.Release(t.Context()))
		expect(t, w, Released)
	}
	heard := s.eavesdrop(w.channel)
	_, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	if told := s.told(heard, w.channel); len(told) != 0 {
		t.Errorf("heard %q", told)
	}
}

// Watches of one Client hear of a release one after the other, and so are a crowd of
// their own.
func TestWatchesOfOneClientAreACrowd(t *testing.T) {
	s := ownScene(t)
	client := New(s.app)
	one, other := watching(t, client, job), watching(t, client, job)
	s.handOver(s.app, job)
	first, second := expect(t, one, Released), expect(t, other, Released)
	if (first.Delay == 0) == (second.Delay == 0) {
		t.Errorf("delays %v and %v: one of the two should try at once", first.Delay, second.Delay)
	}
	_, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	expect(t, one, Taken)
	expect(t, other, Taken)
	one.Close()
	other.Close()
	if client.hub.crowded(one.channel) {
		t.Error("a crowd without a watch")
	}
}

// A user without channels may count who listens and not publish. Neither what was
// obtained nor the release depends on it.
func TestCountingMayBePermittedAndPublishingDenied(t *testing.T) {
	s := ownScene(t)
	s.must(s.redis.Do(t.Context(), "ACL", "SETUSER", "quiet", "on", ">secret", "resetchannels", "~*", "+@all").Err())
	options := s.server.Options()
	options.Username, options.Password = "quiet", "secret"
	app := redis.NewClient(options)
	defer func() { _ = app.Close() }()
	client := New(app)
	client.hub.crowds = map[string]bool{channel(job, client.hub.channel): true} // as if it had been told with others
	heard := s.eavesdrop(Channels(job)...)
	lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	s.must(lock.Release(t.Context()))
	s.wantGone(job)
	if told := s.told(heard, Channels(job)[0]); len(told) != 0 {
		t.Errorf("heard %q", told)
	}
}

func TestClientsAreSpreadOverTheChannels(t *testing.T) {
	var clients [channels]int
	for range 1000 {
		clients[New(nil).hub.channel]++
	}
	for i, n := range clients {
		if n < 150 {
			t.Errorf("%d of 1000 clients listen on channel %d", n, i)
		}
	}
}

// Only the last release counts for whether there is a crowd.
func TestCrowdLastsUntilTheNextRelease(t *testing.T) {
	s := ownScene(t)
	client := New(s.app)
	w := watching(t, client, job)
	for payload, want := range map[string]bool{"released 2": true, "released 1": false, "released": false} {
		client.hub.mu.Lock()
		client.hub.crowds[w.channel] = !want
		client.hub.mu.Unlock()
		s.must(s.redis.Publish(t.Context(), w.channel, payload).Err())
		expect(t, w, Released)
		if client.hub.crowded(w.channel) != want {
			t.Errorf("after %q: crowded = %t", payload, !want)
		}
	}
}

// To re-obtain is not to take.
func TestReobtainIsNotAnnounced(t *testing.T) {
	s := ownScene(t)
	client := New(s.app)
	w := watching(t, client, job)
	heard := s.eavesdrop(w.channel)
	s.handOver(s.app, job)
	expect(t, w, Released)
	lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	s.must(err)
	_, err = client.Obtain(t.Context(), job, long, &Options{Announce: true, Token: lock.Token()})
	s.must(err)
	if told := s.told(heard, w.channel); len(told) != 2 {
		t.Errorf("heard %q, want a release and one taker", told)
	}
}
