package show

import (
	"cmp"
	"slices"
	"time"
)

// Reign is a term as seen from outside.
type Reign struct {
	Leader  string
	Fence   int64
	Started time.Time
	Ended   time.Time // of its work, or of its process being struck; zero while it goes on
}

// Leader is the newest term, if it goes on.
func (c *Cast) Leader() (Reign, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.reigns) == 0 {
		return Reign{}, false
	}
	last := c.reigns[len(c.reigns)-1]
	return last, last.Ended.IsZero()
}

// Reigns are all terms, in the order of their fence tokens.
func (c *Cast) Reigns() []Reign {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.reigns)
}

// Strike notes that a term has ended, if that was not known: a process that was killed
// or frozen has ended its term at the signal, whatever it believes.
func (c *Cast) Strike(fence int64, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.reigns {
		if r := &c.reigns[i]; r.Fence == fence && r.Ended.IsZero() {
			r.Ended = at
		}
	}
}

// bury notes that the process of a replica has ended, and with it all its terms.
func (c *Cast) bury(leader string, at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.reigns {
		if r := &c.reigns[i]; r.Leader == leader && r.Ended.IsZero() {
			r.Ended = at
		}
	}
}

// begin notes the start of a term, and says how long nobody led before.
func (c *Cast) begin(leader string, e Event) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reigns = append(c.reigns, Reign{Leader: leader, Fence: e.Fence, Started: e.Time})
	slices.SortStableFunc(c.reigns, func(a, b Reign) int { return cmp.Compare(a.Fence, b.Fence) })
	i := slices.IndexFunc(c.reigns, func(r Reign) bool { return r.Fence == e.Fence })
	if i == 0 || c.reigns[i-1].Ended.IsZero() {
		return ""
	}
	return ", " + Seconds(e.Time.Sub(c.reigns[i-1].Ended)) + " after the last leader"
}
