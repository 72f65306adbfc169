package demo

import (
	"cmp"
	"slices"
	"time"
)

// Term is a term as seen from outside. Its end is what its replica has logged, except
// where the replica was in no state to log it: the term of a process that was killed or
// frozen ends at the signal, whatever that process believes.
type Term struct {
	Replica string
	Fence   int64
	Started time.Time
	Ended   time.Time // zero while it goes on
	Reason  string    // why it ended; the show's own, where it was the reason
}

func (t Term) open() bool { return t.Ended.IsZero() }

// begin adds a term. Terms are kept in the order of their start.
func (c *Cluster) begin(next Term) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i, _ := slices.BinarySearchFunc(c.terms, next, func(a, b Term) int { return a.Started.Compare(b.Started) })
	c.terms = slices.Insert(c.terms, i, next)
}

// markEnded ends the term that a replica is in, if any. A reason that is known stays.
func (c *Cluster) markEnded(replica string, at time.Time, reason string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.terms {
		if t := &c.terms[i]; t.Replica == replica && t.open() {
			t.Ended, t.Reason = at, cmp.Or(t.Reason, reason)
		}
	}
}

// expect says what will have been the reason when a replica's term ends.
func (c *Cluster) expect(replica, reason string) { c.markEnded(replica, time.Time{}, reason) }

// last is the newest term, zero before the first.
func (c *Cluster) last() Term {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.terms) == 0 {
		return Term{}
	}
	return c.terms[len(c.terms)-1]
}
