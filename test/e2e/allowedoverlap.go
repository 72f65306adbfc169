package e2e

import (
	"slices"
	"time"
)

// thawGrace is how long a process that was frozen past its term may take to call
// OnStoppedLeading. It no longer believes that it leads once it has looked at the
// clocks; the rest is left to the scheduler.
const thawGrace = 250 * time.Millisecond

// allowedOverlap is a period in which a term may overlap with a later one, because one
// of the assumptions of the lease does not hold.
type allowedOverlap struct {
	process  string // whose term; "" is anybody's
	from, to time.Duration
}

// covers reports whether the whole of an overlap with a term of the process is allowed.
func (a allowedOverlap) covers(process string, from, to time.Duration) bool {
	return (a.process == "" || a.process == process) && from >= a.from && to <= a.to
}

// covered reports whether one of the periods covers the whole overlap.
func covered(allowed []allowedOverlap, process string, from, to time.Duration) bool {
	return slices.ContainsFunc(allowed, func(a allowedOverlap) bool { return a.covers(process, from, to) })
}

// lostAtStart reports whether a whole term lies within one allowed overlap. Its holder
// was frozen between the acquisition and the start, or Redis lost the lock in between,
// so another candidate can have led already with a higher token. Such a term ends as
// soon as its holder looks at the clocks or asks Redis.
func lostAtStart(t term, allowed []allowedOverlap) bool {
	return covered(allowed, t.process, t.start, t.end)
}

// allowedOverlaps reads from a history when processes were frozen and when Redis lost
// the lock. A failover may have lost the latest writes, and nobody knows exactly when
// the new master began to serve, so its period begins when the old one began to fail.
func allowedOverlaps(events []event) []allowedOverlap {
	var all []allowedOverlap
	var failingAt time.Duration
	frozenAt := make(map[string]time.Duration)
	for _, e := range events {
		switch e.Kind {
		case frozen:
			frozenAt[e.Process] = e.At
		case thawed:
			all = append(all, allowedOverlap{e.Process, frozenAt[e.Process], e.At + thawGrace})
			delete(frozenAt, e.Process)
		case lostKey:
			all = append(all, allowedOverlap{"", e.At, e.At + e.Within})
		case failing:
			failingAt = e.At
		case promoted:
			all = append(all, allowedOverlap{"", failingAt, e.At + e.Within})
		}
	}
	for process, from := range frozenAt {
		all = append(all, allowedOverlap{process, from, forever})
	}
	return all
}
