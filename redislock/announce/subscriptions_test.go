package announce

import (
	"fmt"
	"testing"
	"time"
)

func TestWatchesShareOneConnectionWhileThereAreAny(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	if n := e.connections(); n != 0 {
		t.Fatalf("%d connections before the first watch", n)
	}
	var watches []*Watch
	for i := range 100 {
		w := subs.Watch(fmt.Sprint(job, i/2)) // two for each lock
		e.expect(w, Subscribed)
		watches = append(watches, w)
	}
	if n := e.connections(); n != 1 {
		t.Errorf("%d connections for %d watches, want 1", n, len(watches))
	}
	for i, w := range watches {
		w.Close()
		w.Close() // twice is once
		if left := len(watches) - 1 - i; left == 50 {
			e.eventually("the channel to be unsubscribed from", func() bool {
				return e.listeners(watches[0].channel) == 0
			})
		}
	}
	watches[0].Join()
	e.eventually("the connection to end", func() bool { return e.connections() == 0 })
}

// Watches share a connection, and each receives the announcements of its own lock
// alone.
func TestWatchesHearOfTheirOwnLockAlone(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	one, other := e.watching(subs, job), e.watching(subs, job+"-other")
	e.publish(one.channel, "released 1")
	if a := e.expect(one, Released); a.Delay != 0 || a.Err != nil {
		t.Errorf("the only listener received %+v", a)
	}
	e.publish(one.channel, "acquired")
	if a := e.expect(one, Acquired); a.Delay != 0 || a.Err != nil {
		t.Errorf("received %+v", a)
	}
	expectNothing(t, other)
}

// The watches of a process listen on one channel of a lock, the one that Contended
// names.
func TestWatchListensOnOneOfTheChannels(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	e.watching(subs, job)
	e.watching(subs, job)
	own, _ := subs.Contended(job)
	for _, channel := range Channels(job) {
		want := int64(0)
		if channel == own {
			want = 1
		}
		if n := e.listeners(channel); n != want {
			t.Errorf("channel %q has %d listeners, want %d", channel, n, want)
		}
	}
}

func TestSubscriptionsAreSpreadOverTheChannels(t *testing.T) {
	var counts [channels]int
	for range 1000 {
		counts[New(nil).index]++
	}
	for i, n := range counts {
		if n < 150 {
			t.Errorf("%d of 1000 listen on channel %d", n, i)
		}
	}
}

// Only the last release decides whether the lock is contended.
func TestContendedLastsUntilTheNextRelease(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	w := e.watching(subs, job)
	for payload, want := range map[string]bool{"released 2": true, "released 1": false, "released": false} {
		subs.mu.Lock()
		subs.byChannel[w.channel].contended = !want
		subs.mu.Unlock()
		e.publish(w.channel, payload)
		e.expect(w, Released)
		if channel, contended := subs.Contended(job); channel != w.channel || contended != want {
			t.Errorf("after %q: Contended = %q, %t, want %q, %t", payload, channel, contended, w.channel, want)
		}
	}
}

// Two watches of a lock contend, though Redis counts them as one listener.
func TestWatchesOfOneLockContend(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	one, other := e.watching(subs, job), e.watching(subs, job)
	e.publish(one.channel, "released 1")
	first, second := e.expect(one, Released), e.expect(other, Released)
	if (first.Delay == 0) == (second.Delay == 0) {
		t.Errorf("delays %v and %v: one of the two should try at once", first.Delay, second.Delay)
	}
	if _, contended := subs.Contended(job); !contended {
		t.Error("not contended")
	}
	one.Close()
	other.Close()
	if _, contended := subs.Contended(job); contended {
		t.Error("contended without a watch")
	}
}

// After a lost connection all watches are notified in the same moment, each of a lock
// of its own.
func TestSubscribedSuggestsAttemptsOneAfterTheOther(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	const watches = 200
	var all []*Watch
	for i := range watches {
		all = append(all, e.watching(subs, job+string(rune('a'+i))))
	}
	time.Sleep(watches * staggerStep)
	e.killSubscriptions()
	longest := time.Duration(0)
	for _, w := range all {
		longest = max(longest, e.expect(w, Subscribed).Delay)
	}
	if longest < watches*staggerStep/4 {
		t.Errorf("the longest delay of %d is %v", watches, longest)
	}
}

// A watch that joins others on their channel is told to try at a moment of its own.
func TestWatchOfASubscribedChannelIsStaggered(t *testing.T) {
	e := onOwnServer(t)
	subs := New(e.app)
	e.watching(subs, job)
	for range 10_000 {
		subs.Stagger() // a second of moments
	}
	w := subs.Watch(job)
	defer w.Close()
	if a := e.expect(w, Subscribed); a.Delay == 0 {
		t.Error("it is to try at once")
	}
}
