package redislock

import (
	"sync"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// Margin returns the part of ttl that the holder of a lock does not rely on: ttl/100,
// because the two clocks may run at different rates, plus 2 ms, because Redis expires
// keys by the millisecond and ttl is rounded to whole milliseconds. Every deadline of a
// lease is derived from it.
func Margin(ttl time.Duration) time.Duration { return ttl/100 + 2*time.Millisecond }

// usable returns the part of ttl that this process may rely on.
func usable(ttl time.Duration) time.Duration { return ttl - Margin(ttl) }

// lease is what this process knows about its lock without asking Redis: that it can
// rely on the lock until sent + span. sent is the instant before the attempt was sent,
// because the server may have applied the attempt at any moment after that.
type lease struct {
	mu       sync.Mutex // guards the fields below
	sent     clock.Instant
	span     time.Duration
	inFlight int           // refreshes that await their reply
	shortest time.Duration // the shortest span of refreshes since none was in flight
	ended    bool          // for good: ran out, lost to somebody else, or given up
	gone     bool          // Redis has said that the lock is not ours
	asked    bool          // Redis has said that somebody requests the release
}

// remaining returns what is left of the lease. Once the lease has ended, that is zero
// or less for good.
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

// begin notes that a refresh is about to be sent. Redis may apply it at any moment from
// now on, so a refresh that shortens the lease does so at once, whatever becomes of it.
// begin returns false if the lease has ended.
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

// abandon notes that a refresh failed. The lease stays as it is.
func (l *lease) abandon() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inFlight--
}

// extend notes that a refresh succeeded and reports whether the lease goes on. A
// success that arrives after the lease has run out does not bring it back, because
// somebody may have seen that it had ended.
//
// Refreshes may overlap. Redis may apply them in any order, and the replies may arrive
// in another. Whichever refresh Redis applied last, it did so after the latest instant
// at which a successful one was sent. So that instant counts, with the shortest span
// among the refreshes that overlapped.
func (l *lease) extend(now, sent clock.Instant, asked bool) bool {
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
	l.asked = l.asked || asked // once requested, the release stays requested
	return true
}

func (l *lease) releaseRequested() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked
}

// lose notes that the server has no such lock of ours.
func (l *lease) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended, l.gone = true, true
}

// giveUp ends the lease because the release is about to be sent. It reports whether, as
// far as this process knows, the server still has the lock. If so, a release that finds
// nothing repeats one whose reply was lost.
func (l *lease) giveUp(now clock.Instant) (present bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	return !l.gone && now.Since(l.sent) < l.span
}

// length returns how long the lease was when it was last extended.
func (l *lease) length() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.span
}
