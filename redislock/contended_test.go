package redislock

import (
	"slices"
	"testing"

	"github.com/redisleader/redisleader/redislock/announce"
)

// ownChannel returns the channel of a lock on which the client listens.
func ownChannel(c *Client, key string) string {
	channel, _ := c.Announcements().Contended(key)
	return channel
}

// listeningOn returns a client that listens on this channel of the lock.
func (e *environment) listeningOn(key, channel string) *Client {
	for {
		if c := New(e.app); ownChannel(c, key) == channel { // drawn at random
			return c
		}
	}
}

// contend makes the client believe that a release of the lock was announced to others
// as well.
func (e *environment) contend(c *Client, key string) {
	e.Helper()
	w := watching(e.T, c, key)
	e.must(e.redis.Publish(e.Context(), ownChannel(c, key), "released 2").Err())
	expect(e.T, w, announce.Released)
	if _, contended := c.Announcements().Contended(key); !contended {
		e.Fatal("the lock is not contended")
	}
}

// A client that was notified of a release together with others lets them know when it
// has obtained the lock. One that was alone, or was not notified, does not.
func TestThoseNotifiedTogetherHearThatTheLockWasAcquired(t *testing.T) {
	e := onOwnServer(t)
	channel := announce.Channels(job)[3]
	listener := e.listen(announce.Channels(job)...) // one more on each channel
	one, other := e.listeningOn(job, channel), e.listeningOn(job, channel)
	w1 := watching(t, one, job)
	lock, err := one.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	if got := e.messages(listener, channel); len(got) != 0 {
		t.Errorf("published %q before any release", got)
	}
	w2 := watching(t, other, job)
	e.must(lock.Release(t.Context()))
	expect(t, w1, announce.Released)
	expect(t, w2, announce.Released)
	_, err = one.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	expect(t, w2, announce.Acquired)
}

func TestLoneListenerDoesNotNotifyItself(t *testing.T) {
	e := onOwnServer(t)
	client := New(e.app)
	w := watching(t, client, job)
	for range 2 {
		lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
		e.must(err)
		e.must(lock.Release(t.Context()))
		expect(t, w, announce.Released)
	}
	channel := ownChannel(client, job)
	listener := e.listen(channel)
	_, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	if got := e.messages(listener, channel); len(got) != 0 {
		t.Errorf("published %q", got)
	}
}

// Two watches of one Client count as one listener of Redis, and contend all the same.
func TestWatchesOfOneClientContend(t *testing.T) {
	e := onOwnServer(t)
	client := New(e.app)
	one, other := watching(t, client, job), watching(t, client, job)
	e.obtainAndRelease(e.app, job)
	first, second := expect(t, one, announce.Released), expect(t, other, announce.Released)
	if (first.Delay == 0) == (second.Delay == 0) {
		t.Errorf("delays %v and %v: one of the two should try at once", first.Delay, second.Delay)
	}
	_, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	expect(t, one, announce.Acquired)
	expect(t, other, announce.Acquired)
	one.Close()
	other.Close()
	if _, contended := client.Announcements().Contended(job); contended {
		t.Error("contended without a watch")
	}
}

// To re-obtain a lock is no acquisition.
func TestReobtainIsNotAnnounced(t *testing.T) {
	e := onOwnServer(t)
	client := New(e.app)
	w := watching(t, client, job)
	channel := ownChannel(client, job)
	listener := e.listen(channel)
	e.obtainAndRelease(e.app, job)
	expect(t, w, announce.Released)
	lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	_, err = client.Obtain(t.Context(), job, long, &Options{Announce: true, Token: lock.Token()})
	e.must(err)
	if got, want := e.messages(listener, channel), []string{"released 2", "acquired"}; !slices.Equal(got, want) {
		t.Errorf("published %q, want %q", got, want)
	}
}
