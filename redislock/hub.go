package redislock

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"
)

// subscriber is what a client needs for announcements besides running scripts.
type subscriber interface {
	Subscribe(ctx context.Context, channels ...string) *redis.PubSub
}

// hub shares one subscription connection among the watches of a Client.
type hub struct {
	client subscriber // nil: announcements are not to be had

	mu      sync.Mutex                     // guards the fields below
	watches map[string]map[*Watch]struct{} // by channel
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
		w.deliver(Announcement{Kind: Subscribed})
	}
}

// remove ends a watch and, with the last one, the session. It does not wait for its goroutines, because who has just obtained a
// lock has better things to do.
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

// tell delivers a to the watches of a channel, each with a delay of its own.
func (h *hub) tell(s *session, channel string, a Announcement, listeners int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.session != s {
		return // it has ended
	}
	if a.Kind == Subscribed {
		s.confirmed[channel] = true
	}
	index := 0
	for w := range h.watches[channel] { // in random order
		if a.Kind != Taken {
			a.Delay = delayOf(index, listeners)
		}
		w.deliver(a)
		index++
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

// join waits for the sessions that were stopped. One that serves other watches goes on, for as long as these last.
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
