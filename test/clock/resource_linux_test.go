package clock

import (
	"slices"
	"sync"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// writeEvery is how often a leader writes.
const writeEvery = 2 * time.Millisecond

// resource is what the leaders write to. It rejects fencing tokens lower than the
// highest it has seen. Beside that it records who has written at all, which shows
// whether there was anything to reject.
type resource struct {
	mu       sync.Mutex
	highest  int64
	rejected int
	guarded  []string // who has written, each uninterrupted series of writes once
	open     []string // the same without rejections
}

func (r *resource) write(term leader.Term) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.Compact(append(r.open, term.Identity()))
	if term.FenceToken() < r.highest {
		r.rejected++
		return
	}
	r.highest = term.FenceToken()
	r.guarded = slices.Compact(append(r.guarded, term.Identity()))
}

func (r *resource) writers() (guarded, open []string, rejected int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.guarded), slices.Clone(r.open), r.rejected
}
