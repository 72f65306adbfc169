package e2e

import "time"

// thawGrace is how long a process that was frozen beyond its term may take to tell its stop callback. It believes no longer
// than its first look at the clocks; the rest is the scheduler's.
const thawGrace = 250 * time.Millisecond

// excuse is a time during which a term may overlap with a later one, because an assumption of the lease does not hold.
type excuse struct {
	process  string // whose term, "" is anybody's
	from, to time.Duration
}

// covers reports whether an overlap of a term of the process is excused, the whole of it.
func (x excuse) covers(process string, from, to time.Duration) bool {
	return (x.process == "" || x.process == process) && from >= x.from && to <= x.to
}

// excuses reads from a history when processes were frozen and when Redis lost the lock.
func excuses(events []event) []excuse {
	var all []excuse
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
		}
	}
	for process, from := range freezing {
		all = append(all, excuse{process, from, forever})
	}
	return all
}
