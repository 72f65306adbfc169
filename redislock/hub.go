package redislock

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// subscriber is what a client needs for announcements besides running scripts.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// hub shares one subscription connection among the watches of a Client.
type hub struct {
	client  subscriber // nil: announcements are not to be had
	channel int        // of each lock's channels the one to listen on
	turns   turns

	mu      sync.Mutex                     // guards the fields below
	watches map[string]map[*Watch]struct{} // by channel
	crowds  map[string]bool                // watched channels whose last release was told to several
	session *session                       // while there are watches
	ending  int                            // sessions that were stopped and still have goroutines
	ended   sync.Cond                      // on mu: ending has become less
}

func (h *hub) add(w *Watch) {
	if h.client == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.watches == nil {
		h.watches = make(map[string]map[*Watch]struct{})
		h.crowds = make(map[string]bool)
	}
	known := h.watches[w.channel] != nil
	if !known {
		h.watches[w.channel] = make(map[*Watch]struct{})
	}
	h.watches[w.channel][w] = struct{}{}
	if h.session == nil {
		h.session = startSession(h)
		return
	}
	if !known {
		h.session.change()
	}
	if h.session.confirmed[w.channel] {
		w.deliver(Announcement{Kind: Subscribed, Delay: h.turns.wait()})
	}
}

// remove ends a watch and, with the last one, the session. It does not wait for its
// goroutines, because who has just obtained a lock has better things to do.
func (h *hub) remove(w *Watch) {
	h.mu.Lock()
	defer h.mu.Unlock()
	watches := h.watches[w.channel]
	if _, ok := watches[w]; !ok {
		return
	}
	delete(watches, w)
	if len(watches) > 0 {
		return
	}
	delete(h.watches, w.channel)
	delete(h.crowds, w.channel)
	if len(h.watches) > 0 {
		h.session.change()
		return
	}
	h.ending++
	h.session.stop()
	h.session = nil
}

// wanted are the channels that somebody watches.
func (h *hub) wanted() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Keys(h.watches))
}

// crowded reports whether others may be about to try because of the release that was
// last announced on the channel.
func (h *hub) crowded(channel string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.crowds[channel]
}

// tell delivers a to the watches of a channel, each with a delay of its own.
func (h *hub) tell(s *session, channel string, a Announcement, listeners int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		return // it has ended
	}
	switch a.Kind {
	case Subscribed:
		s.confirmed[channel] = true
	case Released:
		h.crowds[channel] = listeners > 1 || len(h.watches[channel]) > 1
	}
	index := 0
	for w := range h.watches[channel] { // in random order
		a.Delay = h.delay(a.Kind, index, listeners)
		w.deliver(a)
		index++
	}
}

// delay is how long the watch with this index among those of one channel should wait.
func (h *hub) delay(kind AnnouncementKind, index, listeners int) time.Duration {
	switch kind {
	case Subscribed:
		return h.turns.wait() // those of other channels are told in the same moment
	case Released:
		return delayOf(index, listeners)
	default:
		return 0
	}
}

// deafTo notes that a channel is no longer subscribed to.
func (h *hub) deafTo(s *session, channel string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(s.confirmed, channel)
}

// tellAll delivers a to all watches: announcements do not arrive.
func (h *hub) tellAll(s *session, a Announcement) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		return
	}
	clear(s.confirmed)
	for _, watches := range h.watches {
		for w := range watches {
			w.deliver(a)
		}
	}
}

// join waits for the sessions that were stopped. One that serves other watches goes on,
// for as long as these last.
func (h *hub) join() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.ending > 0 {
		h.ended.Wait()
	}
}

// end notes that the last goroutine of a session, which was stopped, is about to end.
func (h *hub) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending--
	h.ended.Broadcast()
}
