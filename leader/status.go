package leader

import (
	"slices"
	"sync/atomic"
	"time"
)

// Status is a snapshot of an elector, for handlers, pages and people. Its parts are
// read one after the other: if the leader changes meanwhile, they may disagree.
type Status struct {
	// At is when the snapshot was taken, by this machine's wall clock.
	At time.Time

	// Name and Identity are those of the Config.
	Name, Identity string

	// State is what this candidate does.
	State State

	// Leader is who leads, as far as this candidate knows. Its Identity is "" if that
	// is not known.
	Leader Leader

	// LeaderSince is when the leader's term began. It is zero if that is not known. For
	// another candidate's term it is read from the fencing token, and so comes from the
	// clock of the Redis server.
	LeaderSince time.Time

	// LeaseRemaining is how long the leader's lease lasts unless it is renewed: the
	// term of this candidate, or what was left of another's lease when this candidate
	// last looked, less the time since. It is 0 if nobody is known to lead and negative
	// if the lock has no time to live.
	LeaseRemaining time.Duration

	// LeaseTotal is what LeaseRemaining is a part of: RenewDeadline for this
	// candidate's term and LeaseDuration for another's, both from this candidate's
	// Config.
	LeaseTotal time.Duration

	// Overdue is how long ago a term of this candidate was due to end, if it has not
	// begun to step down, and otherwise 0. See Elector.Check.
	Overdue time.Duration

	// LastTerms are up to ten terms of this candidate that have ended, the latest
	// first.
	LastTerms []PastTerm
}

// State is what a candidate does.
type State string

// States of a candidate.
const (
	StateStopped   State = "stopped"   // Run is not running
	StateCandidate State = "candidate" // competing
	StateLeading   State = "leading"
	StateDraining  State = "draining" // the term has ended, its work has not
)

// PastTerm is a term of this candidate that has ended.
type PastTerm struct {
	FenceToken int64
	StartedAt  time.Time // by this machine's wall clock
	Lasted     time.Duration
	Reason     EndReason
}

// Status returns a snapshot. It does no I/O and waits for nobody.
func (e *Elector) Status() Status {
	s := Status{
		At:        time.Now(),
		Name:      e.cfg.Name,
		Identity:  e.cfg.Identity,
		State:     e.state(),
		Overdue:   max(0, e.overdue()),
		LastTerms: slices.Clone(e.history.latest()),
	}
	s.Leader, _ = e.Leader()
	if t, ok := e.Term(); ok {
		s.LeaderSince, s.LeaseRemaining, s.LeaseTotal = t.StartedAt(), t.Remaining(), e.timing.deadline
		return s
	}
	if seen := e.observed.Load(); s.Leader.Identity != "" && seen != nil {
		s.LeaderSince = mintedAt(seen.leader.FenceToken, s.At)
		s.LeaseRemaining = seen.remaining(e.now())
		s.LeaseTotal = max(s.LeaseRemaining, e.timing.lease)
	}
	return s
}

func (e *Elector) state() State {
	held := e.held.Load()
	switch {
	case e.IsLeader():
		return StateLeading
	case held != nil && held.begun.Load():
		return StateDraining
	case e.running.Load():
		return StateCandidate
	default:
		return StateStopped
	}
}

// mintedAt is when a fencing token was minted, by the clock of the server. A token is
// that time in microseconds, unless the counter or a floor is ahead of the clock. Then
// the result is zero.
func mintedAt(fence int64, now time.Time) time.Time {
	const ahead, year = time.Minute, 365 * 24 * time.Hour
	t := time.UnixMicro(fence)
	if t.After(now.Add(ahead)) || t.Before(now.Add(-20*year)) {
		return time.Time{}
	}
	return t
}

// maxHistory is how many of its own ended terms an elector remembers.
const maxHistory = 10

// history holds the latest terms of one elector. The goroutine of Run adds to it. Any
// goroutine may read it, and none waits for another.
type history struct{ terms atomic.Pointer[[]PastTerm] }

// add makes a new list: one that was handed out does not change.
func (h *history) add(t PastTerm) {
	terms := append([]PastTerm{t}, h.latest()...)
	terms = terms[:min(len(terms), maxHistory)]
	h.terms.Store(&terms)
}

// latest are the terms, the last one first. Do not modify them.
func (h *history) latest() []PastTerm {
	if terms := h.terms.Load(); terms != nil {
		return *terms
	}
	return nil
}
