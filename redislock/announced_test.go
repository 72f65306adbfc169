package redislock

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock/announce"
)

// job is a lock for tests that have a server of their own.
const job = "redisleader:{job}"

// listen subscribes to channels on a connection of its own. Unlike a Watch it loses no
// message that has not been read yet.
func (e *environment) listen(channels ...string) *redis.PubSub {
	e.Helper()
	listener := e.redis.Subscribe(e.Context(), channels...)
	e.Cleanup(func() { _ = listener.Close() })
	for range channels {
		_, err := listener.Receive(e.Context())
		e.must(err)
	}
	return listener
}

// messages returns what a listener has received so far. The channel is one of those it
// listens on.
func (e *environment) messages(listener *redis.PubSub, channel string) (payloads []string) {
	e.Helper()
	const end = "end of the recording"
	e.must(e.redis.Publish(e.Context(), channel, end).Err())
	for {
		message, err := listener.ReceiveMessage(e.Context())
		e.must(err)
		if message.Payload == end {
			return payloads
		}
		payloads = append(payloads, message.Payload)
	}
}

// obtainAndRelease obtains a lock and releases it, with announcements.
func (e *environment) obtainAndRelease(client RedisClient, key string) {
	e.Helper()
	lock, err := Obtain(e.Context(), client, key, long, &Options{Announce: true})
	e.must(err)
	e.must(lock.Release(e.Context()))
}

// watching returns a watch that has subscribed already and ends with the test.
func watching(t *testing.T, c *Client, key string) *announce.Watch {
	t.Helper()
	w := c.Announcements().Watch(key)
	t.Cleanup(func() { w.Close(); w.Join() })
	expect(t, w, announce.Subscribed)
	return w
}

// expect waits for an announcement of this kind and skips others, which may be
// repeated.
func expect(t *testing.T, w *announce.Watch, kind announce.Kind) announce.Announcement {
	t.Helper()
	for timeout := time.After(2 * patience); ; {
		select {
		case a := <-w.C:
			if a.Kind == kind {
				return a
			}
		case <-timeout:
			t.Fatalf("waited in vain for an announcement of kind %v", kind)
		}
	}
}

// expectNothing fails the test if there is an announcement to read.
func expectNothing(t *testing.T, w *announce.Watch) {
	t.Helper()
	select {
	case a := <-w.C:
		t.Errorf("the watch of another lock received %+v", a)
	default:
	}
}

func TestWatchHearsRelease(t *testing.T) {
	e := onOwnServer(t)
	w := watching(t, New(e.app), job)
	other := watching(t, New(e.app), job+"-other")
	e.obtainAndRelease(e.app, job)
	if a := expect(t, w, announce.Released); a.Delay != 0 {
		t.Errorf("the only listener is to wait for %v", a.Delay)
	}
	expectNothing(t, other)
}

// A release is announced after the delete, so whoever hears of it finds the lock free.
func TestReleaseIsAnnouncedWhenTheLockIsFree(t *testing.T) {
	e := onOwnServer(t)
	w := watching(t, New(e.app), job)
	var releases sync.WaitGroup
	defer releases.Wait()
	for range 100 {
		lock, err := Obtain(t.Context(), e.app, job, long, &Options{Announce: true})
		e.must(err)
		releases.Go(func() { _ = lock.Release(context.Background()) })
		expect(t, w, announce.Released)
	}
}

func TestWithoutAnnounceNothingIsPublished(t *testing.T) {
	e := onOwnServer(t)
	listener := e.listen(announce.Channels(job)...)
	lock, err := Obtain(t.Context(), e.app, job, long, nil)
	e.must(err)
	e.must(lock.Release(t.Context()))
	if got := e.messages(listener, announce.Channels(job)[0]); len(got) != 0 {
		t.Errorf("published %q", got)
	}
}

// A release that fails is not announced, because the announcement follows the delete.
func TestFailedReleaseIsNotAnnounced(t *testing.T) {
	e := onOwnServer(t)
	rules := slices.DeleteFunc(e.documented(), func(rule string) bool { return rule == "+del" })
	client := e.as("app", rules...)
	listener := e.listen(announce.Channels(job)...)
	lock, err := Obtain(t.Context(), client, job, long, &Options{Announce: true})
	e.must(err)
	wantFailure(t, lock.Release(t.Context()))
	e.wantField(job, "token", lock.Token()) // held as before
	if got := e.messages(listener, announce.Channels(job)[0]); len(got) != 0 {
		t.Errorf("published %q about a lock that is held", got)
	}
}

// Locks work without the permission to publish or to subscribe.
func TestAnnouncementsMayBeDenied(t *testing.T) {
	e := onOwnServer(t)
	client := e.as("mute", "on", ">secret", "resetchannels", "~*", "+@all", "-publish", "-subscribe", "-pubsub")
	w := New(client).Announcements().Watch(job)
	t.Cleanup(func() { w.Close(); w.Join() })
	if a := expect(t, w, announce.Unavailable); a.Err == nil || !strings.Contains(a.Err.Error(), "NOPERM") {
		t.Errorf("Unavailable because of %v, want NOPERM", a.Err)
	}
	e.obtainAndRelease(client, job)
	e.wantGone(job)
}

// A user without channels may count the listeners but not publish. Neither an
// acquisition nor a release depends on it.
func TestCountingMayBePermittedAndPublishingDenied(t *testing.T) {
	e := onOwnServer(t)
	client := New(e.as("quiet", "on", ">secret", "resetchannels", "~*", "+@all"))
	client.announcements = announce.New(e.redis) // which may subscribe
	e.contend(client, job)
	listener := e.listen(announce.Channels(job)...)
	lock, err := client.Obtain(t.Context(), job, long, &Options{Announce: true})
	e.must(err)
	e.must(lock.Release(t.Context()))
	e.wantGone(job)
	if got := e.messages(listener, announce.Channels(job)[0]); len(got) != 0 {
		t.Errorf("published %q", got)
	}
}
