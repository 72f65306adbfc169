package leader

import (
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// Leader describes who leads, as far as a candidate knows. It is information for
// people: what one may rely on is the Term.
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

// Leader returns who leads: this candidate itself, or who held the lock when it last
// looked. It returns false if that is not known, or the lease seen then has run out
// since.
func (e *Elector) Leader() (Leader, bool) {
	if t, ok := e.Term(); ok {
		return Leader{e.cfg.Identity, t.FenceToken(), e.cfg.Metadata}, true
	}
	seen := e.observed.Load()
	if seen == nil || seen.ttl >= 0 && e.now().Since(seen.at) >= seen.ttl {
		return Leader{}, false
	}
	return seen.leader, true
}

// GetLeader returns the identity of the leader, "" if that is not known.
func (e *Elector) GetLeader() string {
	leader, _ := e.Leader()
	return leader.Identity
}

// observe takes note of who holds the lock.
func (e *Elector) observe(h redislock.Holder) {
	if h.Foreign {
		e.observeForeign(h.Metadata)
		return
	}
	e.foreign = ""
	e.seen = max(e.seen, h.FenceToken)
	c := decodeCard(h.Metadata)
	leader := Leader{c.Identity, h.FenceToken, c.Metadata}
	last := e.observed.Swap(&observation{leader, e.now(), h.TTL})
	if h.TTL < 0 && (last == nil || last.ttl >= 0) {
		e.cfg.Logger.Info("The lock has lost its time to live: it stays until its holder renews it or somebody deletes it", "key", e.key)
	}
	if last != nil && last.leader.Identity == leader.Identity && last.leader.FenceToken == leader.FenceToken {
		return
	}
	e.cfg.Observer.LeaderChanged(e.cfg.Name, leader)
	e.cfg.Logger.Info("New leader", "leader", leader.Identity, "fence", leader.FenceToken)
	e.notifier.notify(leader.Identity)
}

// observeForeign says once that the lock's key holds something else.
func (e *Elector) observeForeign(what string) {
	e.observed.Store(nil)
	if e.foreign != what {
		e.foreign = what
		e.cfg.Logger.Error(nil, "The key of the lock holds something that is not a lock; it is left alone, and nobody can lead until somebody deletes it",
			"key", e.key, "holds", what)
	}
}
