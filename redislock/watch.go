package redislock

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"time"
)

// channels is over how many channels those who watch a lock are spread. release.lua
// knows the number too.
const channels = 4

// Channels are the channels on which a lock obtained with Options.Announce is
// announced: "<key>:announce:0" to "<key>:announce:3". Each Client listens on one of
// them, so that a release can be told to a few of many: to four at least, or all, of
// those that the lock's server knows to listen. In a Cluster a Client that watches
// locks of several slots may do so by way of another server; it is told only if none is
// known. They share the lock's hash tag, if the key has one.
func Channels(key string) []string {
	all := make([]string, channels)
	for i := range all {
		all[i] = channel(key, i)
	}
	return all
}

func channel(key string, i int) string { return key + ":announce:" + strconv.Itoa(i) }

// Announcement is a hint about a lock that is being watched. It may be late, repeated,
// forged or missing, and of many who wait only some get it: use it to look earlier than
// one would have, never instead of looking.
type Announcement struct {
	// Kind says what happened.
	Kind AnnouncementKind

	// Delay is how long to wait before the attempt that a Subscribed or Released
	// suggests, so that many who wait do not try in the same instant: none for the
	// first, and more the more there are.
	Delay time.Duration

	// Err is why announcements do not arrive, with Unavailable.
	Err error
}

// AnnouncementKind is the kind of an Announcement.
type AnnouncementKind int

const (
	// Subscribed says that announcements arrive from now on. What happened before went
	// unheard, so it is time to look. It comes again after each loss of the connection.
	Subscribed AnnouncementKind = iota
	// Released says that the lock was released.
	Released
	// Taken says that the lock was obtained, so that an attempt is in vain. Those hear
	// it that were told of the release together with the Client that obtained it.
	Taken
	// Unavailable says that announcements do not arrive for now, or at all.
	Unavailable
)

// Watch receives the announcements of one lock until it is closed.
type Watch struct {
	// C delivers announcements. One that was not received yet is replaced by the next.
	// It is never closed.
	C <-chan Announcement

	c       chan Announcement
	channel string
	hub     *hub
}

// Watch starts to watch the lock named key. All watches of one Client share one
// connection, which is opened with the first and closed with the last, and the watches
// of one key one subscription. It does no I/O itself. A client that cannot subscribe
// (it has no method Subscribe) gives a Watch that never delivers.
func (c *Client) Watch(key string) *Watch {
	w := &Watch{c: make(chan Announcement, 1), channel: channel(key, c.hub.channel), hub: &c.hub}
	w.C = w.c
	c.hub.add(w)
	return w
}

// Close ends the watch. With the last watch of a Client its connection is closed; that
// does not make Close wait.
func (w *Watch) Close() { w.hub.remove(w) }

// Join waits until the goroutines of connections that were closed have ended. Call it
// after Close.
func (w *Watch) Join() { w.hub.join() }

// deliver replaces what was not received. The caller holds the hub's mutex, so that no
// two deliver at a time.
func (w *Watch) deliver(a Announcement) {
	select {
	case <-w.c:
	default:
	}
	w.c <- a
}

// spread is by how much two attempts should be apart: about the time in which the first
// is decided and announced.
const spread = 250 * time.Microsecond

// eager is how many of all who listen should try at once, on average. With one, too
// often nobody would.
const eager = 2

// delayOf is how long the watch with this index among those of one process should wait
// when listeners processes listen. They cannot agree on who goes first, so each draws a
// lot.
func delayOf(index, listeners int) time.Duration {
	listeners = max(listeners, 1)
	if index == 0 && rand.N(listeners) < eager {
		return 0
	}
	return rand.N(time.Duration(listeners)*spread) + time.Duration(index*listeners)*spread
}

// decode reads a message; listeners counts for Released alone.
func decode(payload string) (kind AnnouncementKind, listeners int, ok bool) {
	word, number, _ := strings.Cut(payload, " ")
	switch word {
	case "released":
		listeners, _ = strconv.Atoi(number)
		return Released, min(listeners, maxListeners), true
	case "taken":
		return Taken, 0, true
	}
	return 0, 0, false
}

// maxListeners bounds what a forged message can delay an attempt by.
const maxListeners = 1000
