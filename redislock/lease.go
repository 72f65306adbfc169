package redislock

import (
	"sync"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// usable is the part of ttl that this process may rely on: the rest covers two clocks
// that do not run at the same rate (1 %) and the millisecond in which Redis expires
// keys.
func usable(ttl time.Duration) time.Duration {
	return ttl - ttl/100 - 2*time.Millisecond
}

// lease is what this process knows about its lock without asking Redis: it can be
// relied upon until sent + span. The instant is the one before the attempt was sent,
// since the server may have applied it at any moment after.
type lease struct {
	mu       sync.Mutex
	sent     clock.Instant
	span     time.Duration
	inFlight int           // refreshes whose reply is outstanding
	shortest time.Duration // the shortest span of all refreshes since none was in flight
	ended    bool          // sticky: ran out, found to be somebody else's, or given up
	gone     bool          // Redis said that it is not ours, or no longer
}

// remaining is zero or less once the lease has ended, and stays so.
func (l *lease) remaining(now clock.Instant) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.left(now)
}

func (l *lease) left(now clock.Instant) time.Duration {
	left := l.span - now.Since(l.sent)
	l.ended = l.ended || left <= 0
	if l.ended {
		return min(left, 0)
	}
	return left
}

// begin notes a refresh that is about to be sent. Redis may apply it at any moment from
// now on, so one that shortens the lease counts from here, whatever becomes of it. It
// reports false if the lease has ended.
func (l *lease) begin(now clock.Instant, span time.Duration) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	left := l.left(now)
	if left <= 0 {
		return false
	}
	if l.inFlight == 0 {
		l.shortest = span
	}
	l.inFlight++
	l.shortest = min(l.shortest, span)
	if span < left {
		l.sent, l.span = now, span
	}
	return true
}

// abandon notes that a refresh failed: it leaves the lease as it is.
func (l *lease) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
}

// extend notes that a refresh succeeded and reports whether the lease goes on: a
// success that comes after the lease has run out does not bring it back, because
// somebody may have looked in between.
//
// Refreshes may overlap, and Redis may apply them in any order, whatever that of their
// replies. Whichever it applied last did so after the newest instant of all successes,
// so that instant counts, with the shortest span among those that overlapped.
func (l *lease) extend(now, sent clock.Instant) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
	if l.left(now) <= 0 {
		return false
	}
	if sent.Since(l.sent) > 0 { // not overtaken by a refresh that was sent later
		l.sent = sent
	}
	l.span = l.shortest
	return true
}

// lose notes that there is no such lock of ours on the server, or no longer.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.gone = true, true
}

// giveUp ends the lease because its release is about to be sent. It reports whether, as
// far as this process knows, the lock is still on the server: then a release that finds
// nothing is the repetition of one whose reply was lost.
func (l *lease) giveUp(now clock.Instant) (present bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return !l.gone && now.Since(l.sent) < l.span
}

// length is how long the lease was when it was last extended.
func (l *lease) length() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.span
}
