package announce

import (
	"math/rand/v2"
	"sync"
	"time"
)

// staggerStep is the time between attempts that could all be made at once.
const staggerStep = 100 * time.Microsecond

// turns hands out moments that are staggerStep apart.
type turns struct {
	mu   sync.Mutex
	next time.Time
}

// wait takes the next moment and returns how long it is until then.
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

// spread is the time that should pass between two attempts. It is about as long as it
// takes until the first is decided and announced.
const spread = 250 * time.Microsecond

// eager is how many of those that hear of a release should try at once, on average.
// With one, nobody would do so too often.
const eager = 2

// delayOf returns how long a watch should wait after a release before it tries. index
// is its place among the watches of its process, and listeners is the number of
// processes that were notified. The processes cannot agree on an order, so each draws
// at random.
func delayOf(index, listeners int) time.Duration {
	listeners = max(listeners, 1)
	if index == 0 && rand.N(listeners) < eager {
		return 0
	}
	return rand.N(time.Duration(listeners)*spread) + time.Duration(index*listeners)*spread
}
