package redislock

import (
	"sync"
	"time"
)

// staggerStep is by how much attempts that could be made at once are kept apart.
const staggerStep = 100 * time.Microsecond

// Stagger is how long to wait before an attempt to obtain that many may want to make in
// the same moment, as in a process that starts a thousand campaigns. Each call is given
// a moment of its own, 100 µs after the one before; the first after a pause need not
// wait. Announcements that suggest an attempt to all at once are staggered already.
func (c *Client) Stagger() time.Duration { return c.hub.turns.wait() }

// turns are the moments that are given out.
type turns struct {
	mu   sync.Mutex
	next time.Time
}

func (t *turns) wait() time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	if t.next.Before(now) {
		t.next = now
	}
	wait := t.next.Sub(now)
	t.next = t.next.Add(staggerStep)
	return wait
}
