package redislock

import (
	"fmt"
	"slices"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock/announce"
)

// With few listeners a release notifies all, with many at least four. Each is notified
// once, and learns how many listen on the same channel.
func TestReleaseNotifiesAFewOfMany(t *testing.T) {
	e := onOwnServer(t)
	for row, c := range []struct {
		listeners []int // on each channel
		notified  []int // how many of them may be notified
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
		listeners := make([][]*redis.PubSub, len(c.listeners))
		for i, n := range c.listeners {
			for range n {
				listeners[i] = append(listeners[i], e.listen(announce.Channels(key)[i]))
			}
		}
		e.obtainAndRelease(e.app, key)
		notified := 0
		for i, channel := range announce.Channels(key) {
			notified += e.notified(channel, listeners[i])
		}
		if !slices.Contains(c.notified, notified) {
			t.Errorf("%v: %d were notified, want %v", c.listeners, notified, c.notified)
		}
	}
}

// notified counts those listeners of a channel that one release has notified.
func (e *environment) notified(channel string, listeners []*redis.PubSub) (n int) {
	e.Helper()
	want := fmt.Sprint("released ", len(listeners))
	for _, listener := range listeners {
		switch got := e.messages(listener, channel); {
		case slices.Equal(got, []string{want}):
			n++
		case len(got) > 0:
			e.Errorf("a listener of %q received %q, want %q", channel, got, want)
		}
	}
	return n
}

// It is not the same channel first each time: one whose listeners are all frozen must
// not be the only one that is notified.
func TestReleaseNotifiesOthersEachTime(t *testing.T) {
	e := onOwnServer(t)
	channels := announce.Channels(job)
	var listeners []*redis.PubSub
	for _, channel := range channels {
		listeners = append(listeners, e.listen(channel))
	}
	for range 4 {
		e.listen(channels[0]) // enough by themselves
	}
	const releases = 50
	for range releases {
		e.obtainAndRelease(e.app, job)
	}
	for i, channel := range channels {
		if n := len(e.messages(listeners[i], channel)); n == 0 || i > 0 && n == releases {
			t.Errorf("channel %d was notified of %d of %d releases", i, n, releases)
		}
	}
}

// A client that may not count the listeners, or does not see them because they are
// connected to another server, notifies all.
func TestReleaseNotifiesAllIfNobodyIsKnownToListen(t *testing.T) {
	e := onOwnServer(t)
	client := e.as("blind", "on", ">secret", "allchannels", "~*", "+@all", "-pubsub")
	channels := announce.Channels(job)
	listener := e.listen(channels...)
	e.obtainAndRelease(client, job)
	if got := e.messages(listener, channels[0]); len(got) != len(channels) {
		t.Errorf("received %q, want one message on each of %d channels", got, len(channels))
	}
}
