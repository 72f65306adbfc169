package announce

// Watch receives the announcements of one lock until it is closed.
type Watch struct {
	// C delivers announcements. If one has not been received when the next arrives, the
	// next replaces it. C is never closed.
	C <-chan Announcement

	c       chan Announcement
	channel string
	subs    *Subscriptions
}

// Watch starts to watch the lock named key. It does no I/O itself. All watches of one
// key share one subscription. If the client cannot subscribe, the Watch never delivers
// anything. Close the Watch when it is no longer needed.
func (s *Subscriptions) Watch(key string) *Watch {
	w := &Watch{c: make(chan Announcement, 1), channel: s.own(key), subs: s}
	w.C = w.c
	s.add(w)
	return w
}

// Close ends the watch. It does not wait. When the last watch of a Subscriptions is
// closed, so is its connection. Close may be called more than once.
func (w *Watch) Close() { w.subs.remove(w) }

// Join waits until the goroutines of closed connections have ended. Call it after
// Close.
func (w *Watch) Join() { w.subs.join() }

// deliver replaces an announcement that has not been received. The caller holds the
// mutex of subs, so there is only one delivery at a time.
func (w *Watch) deliver(a Announcement) {
	select {
	case <-w.c:
	default:
	}
	w.c <- a
}
