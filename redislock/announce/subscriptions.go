package announce

import (
	"context"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// subscriber is what a client needs for announcements.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// Subscriptions shares one subscription connection among its watches. It is safe for
// use by many goroutines.
type Subscriptions struct {
	client subscriber // nil if the client cannot subscribe
	index  int        // which of the channels of each lock to listen on
	turns  turns

	mu         sync.Mutex              // guards the fields below
	byChannel  map[string]*subscribers // of the channels that are watched
	connection *connection             // nil while there are no watches
	closing    int                     // stopped connections that still have goroutines
	closed     sync.Cond               // on mu: closing has decreased
}

// subscribers are the watches of one channel.
type subscribers struct {
	watches   map[*Watch]struct{}
	contended bool // the last release was announced to several, which may try now
}

// New returns a Subscriptions that uses client. The client needs the method Subscribe
// of go-redis; without it, watches never deliver anything. New does no I/O. The
// connection is opened with the first watch.
func New(client any) *Subscriptions {
	s := &Subscriptions{index: rand.N(channels)}
	s.client, _ = client.(subscriber)
	s.closed.L = &s.mu
	return s
}

// own returns the channel of a lock on which this process listens.
func (s *Subscriptions) own(key string) string { return channel(key, s.index) }

// Contended returns the channel on which to announce that the lock named key was
// acquired. ok is false if that is not worth an announcement, because nobody else is
// about to try: the last release was announced to at most one watch, or nobody here
// watches the lock.
func (s *Subscriptions) Contended(key string) (channel string, ok bool) {
	channel = s.own(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	subs := s.byChannel[channel]
	return channel, subs != nil && subs.contended
}

// Stagger returns how long to wait before an attempt that many may want to make at the
// same moment, as in a process that starts a thousand campaigns. Each call gets a
// moment of its own, 100 µs after the one before. The first call after a pause returns
// 0. The Delay of an announcement is staggered already.
func (s *Subscriptions) Stagger() time.Duration { return s.turns.wait() }

func (s *Subscriptions) add(w *Watch) {
	if s.client == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byChannel == nil {
		s.byChannel = make(map[string]*subscribers)
	}
	subs, known := s.byChannel[w.channel]
	if !known {
		subs = &subscribers{watches: make(map[*Watch]struct{})}
		s.byChannel[w.channel] = subs
	}
	subs.watches[w] = struct{}{}
	if s.connection == nil {
		s.connection = startConnection(s)
		return
	}
	if !known {
		s.connection.change()
	}
	if s.connection.confirmed[w.channel] {
		w.deliver(Announcement{Kind: Subscribed, Delay: s.turns.wait()})
	}
}

// remove ends a watch and, if it was the last one, stops the connection. It does not
// wait for the goroutines of the connection, because a candidate that has just obtained
// a lock has better things to do.
func (s *Subscriptions) remove(w *Watch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	subs := s.byChannel[w.channel]
	if subs == nil {
		return
	}
	delete(subs.watches, w)
	if len(subs.watches) > 0 {
		return
	}
	delete(s.byChannel, w.channel)
	if len(s.byChannel) > 0 {
		s.connection.change()
		return
	}
	s.closing++
	s.connection.stop()
	s.connection = nil
}

// wanted returns the channels that are watched.
func (s *Subscriptions) wanted() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.byChannel))
}

// subscribed notes that announcements on a channel arrive from now on, and notifies its
// watches.
func (s *Subscriptions) subscribed(from *connection, channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection != from {
		return // it has been closed
	}
	from.confirmed[channel] = true
	// Watches of other channels are notified at the same moment, so all take turns.
	s.notify(channel, func(int) Announcement {
		return Announcement{Kind: Subscribed, Delay: s.turns.wait()}
	})
}

// unsubscribed notes that announcements on a channel no longer arrive.
func (s *Subscriptions) unsubscribed(from *connection, channel string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(from.confirmed, channel)
}

// heard passes on a message that arrived on a channel.
func (s *Subscriptions) heard(from *connection, channel string, kind Kind, listeners int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	subs := s.byChannel[channel]
	if s.connection != from || subs == nil {
		return
	}
	if kind == Acquired {
		s.notify(channel, func(int) Announcement { return Announcement{Kind: Acquired} })
		return
	}
	subs.contended = listeners > 1 || len(subs.watches) > 1
	s.notify(channel, func(i int) Announcement {
		return Announcement{Kind: Released, Delay: delayOf(i, listeners)}
	})
}

// notify delivers an announcement to each watch of a channel, in random order. The
// argument of announcement is the place of the watch in that order. The caller holds
// mu.
func (s *Subscriptions) notify(channel string, announcement func(i int) Announcement) {
	subs := s.byChannel[channel]
	if subs == nil {
		return
	}
	i := 0
	for w := range subs.watches {
		w.deliver(announcement(i))
		i++
	}
}

// unavailable notifies all watches that announcements do not arrive.
func (s *Subscriptions) unavailable(from *connection, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.connection != from {
		return
	}
	clear(from.confirmed)
	for channel := range s.byChannel {
		s.notify(channel, func(int) Announcement { return Announcement{Kind: Unavailable, Err: err} })
	}
}

// join waits until stopped connections have ended. A connection that serves other
// watches goes on for as long as there are any.
func (s *Subscriptions) join() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.closing > 0 {
		s.closed.Wait()
	}
}

// ended notes that the last goroutine of a stopped connection is about to end.
func (s *Subscriptions) ended() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closing--
	s.closed.Broadcast()
}
