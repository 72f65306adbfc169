package leader

import (
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// Leader describes who leads, as far as a candidate knows. It is information for
// people. Code should rely on the Term.
type Leader struct {
	// Identity is the leader's Config.Identity.
	Identity string
	// FenceToken is the fencing token of its term.
	FenceToken int64
	// Metadata is its Config.Metadata. Do not modify it.
	Metadata map[string]string
}

// observation is a Leader with what its lease had left when this candidate looked.
type observation struct {
	leader Leader
	at     clock.Instant
	ttl    time.Duration // negative: never runs out
}

// remaining is what the lease has left, 0 if it has run out, and negative if it never
// does.
func (o *observation) remaining(now clock.Instant) time.Duration {
	if o.ttl < 0 {
		return o.ttl
	}
	return max(0, o.ttl-now.Since(o.at))
}

// Leader returns who leads: this candidate itself, or the one that held the lock when
// this candidate last looked. It returns false if nobody is known to lead, or if the
// lease seen then has run out since.
func (e *Elector) Leader() (Leader, bool) {
	if t, ok := e.Term(); ok {
		return Leader{e.cfg.Identity, t.FenceToken(), e.cfg.Metadata}, true
	}
	seen := e.observed.Load()
	if seen == nil || seen.remaining(e.now()) == 0 {
		return Leader{}, false
	}
	return seen.leader, true
}

// GetLeader returns the identity of the leader, "" if nobody is known to lead.
func (e *Elector) GetLeader() string {
	leader, _ := e.Leader()
	return leader.Identity
}
