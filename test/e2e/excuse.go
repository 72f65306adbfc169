package e2e

import (
	"slices"
	"time"
)

// thawGrace is how long a process that was frozen beyond its term may take to tell its
// stop callback. It believes no longer than its first look at the clocks; the rest is
// the scheduler's.
const thawGrace = 250 * time.Millisecond

// excuse is a time during which a term may overlap with a later one, because an
// assumption of the lease does not hold.
type excuse struct {
	process  string // whose term, "" is anybody's
	from, to time.Duration
}

// covers reports whether an overlap of a term of the process is excused, the whole of it.
func (x excuse) covers(process string, from, to time.Duration) bool {
	return (x.process == "" || x.process == process) && from >= x.from && to <= x.to
}

// covered reports whether one of the excuses covers it all.
func covered(excused []excuse, process string, from, to time.Duration) bool {
	return slices.ContainsFunc(excused, func(x excuse) bool { return x.covers(process, from, to) })
}

// stillborn reports whether a term began and ended within one excuse. Its holder was
// frozen between the acquisition and the start, or Redis lost the lock in between, so
// that another can have led already with a higher token. It ends at its first look at
// the clocks or at Redis.
func stillborn(t term, excused []excuse) bool { return covered(excused, t.process, t.start, t.end) }

// excuses reads from a history when processes were frozen and when Redis lost the lock,
// be it in a failover: that may have cost the latest writes, and when exactly the new
// master began to serve nobody knows.
func excuses(events []event) []excuse {
	var all []excuse
	var failingAt time.Duration
	freezing := make(map[string]time.Duration)
	for _, e := range events {
		switch e.Kind {
		case frozen:
			freezing[e.Process] = e.At
		case thawed:
			all = append(all, excuse{e.Process, freezing[e.Process], e.At + thawGrace})
			delete(freezing, e.Process)
		case lostKey:
			all = append(all, excuse{"", e.At, e.At + e.Within})
		case failing:
			failingAt = e.At
		case promoted:
			all = append(all, excuse{"", failingAt, e.At + e.Within})
		}
	}
	for process, from := range freezing {
		all = append(all, excuse{process, from, forever})
	}
	return all
}
