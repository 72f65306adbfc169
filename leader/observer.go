package leader

import "time"

// Observer is told what an Elector does, for metrics. Its methods are called on the
// goroutine of Run, ElectorCreated on that of New: they must not block, nor call
// methods of the Elector other than the getters. Embed NopObserver to stay compatible
// with future methods.
type Observer interface {
	// ElectorCreated is called once by New. Its getters may be used from then on, for
	// values that depend on the clocks.
	ElectorCreated(name string, e *Elector)

	// AcquireAttempted is called after each attempt to obtain the lock.
	AcquireAttempted(name string, result AcquireResult)

	// LeaderChanged is called when a new term is seen, this candidate's own included.
	LeaderChanged(name string, leader Leader)

	// TermStarted is called when this candidate has become the leader, before
	// OnStartedLeading.
	TermStarted(name string, fenceToken int64)

	// RenewAttempted is called after each attempt to renew the lease, also while a term
	// that has ended drains.
	RenewAttempted(name string, renewal Renewal)

	// TermEnded is called when this candidate is no longer the leader, before the
	// context of the work is done, unless that has happened by itself: at the deadline,
	// or by Term.Fail.
	TermEnded(name string, reason EndReason, lasted time.Duration)

	// TermDrained is called when the callbacks of a term that has ended have returned,
	// or when DrainTimeout has passed.
	TermDrained(name string)
}

// AcquireResult is the outcome of an attempt to obtain the lock.
type AcquireResult string

// Outcomes of an attempt to obtain the lock.
const (
	AcquireWon    AcquireResult = "won"
	AcquireHeld   AcquireResult = "held"   // by somebody else, or the key holds something else
	AcquireFailed AcquireResult = "failed" // no answer, or an error
)

// AcquireResults returns all of them.
func AcquireResults() []AcquireResult { return []AcquireResult{AcquireWon, AcquireHeld, AcquireFailed} }

// Renewal describes one attempt to renew the lease.
type Renewal struct {
	Duration time.Duration // how long the attempt took
	Margin   time.Duration // what remained of the term just before it was renewed; success only
	Attempts int           // how many attempts it took since the last success, this one included
	Err      error         // nil on success
}

// EndReason says why a term ended. It is a label in metrics and a value in logs.
type EndReason string

// Reasons for the end of a term.
const (
	EndedLost     EndReason = "lost"     // ErrLost
	EndedExpired  EndReason = "expired"  // ErrExpired
	EndedResigned EndReason = "resigned" // ErrResigned
	EndedReturned EndReason = "returned" // OnStartedLeading returned before its context was done
	EndedFailed   EndReason = "failed"   // the work called Term.Fail
	EndedDeposed  EndReason = "deposed"  // the work called Term.Fail with ErrDeposed
	EndedPanicked EndReason = "panicked" // a callback panicked
	EndedStopped  EndReason = "stopped"  // the context given to Run ended
)

// EndReasons returns all of them.
func EndReasons() []EndReason {
	return []EndReason{
		EndedLost, EndedExpired, EndedResigned, EndedReturned, EndedFailed, EndedDeposed, EndedPanicked, EndedStopped,
	}
}

// NopObserver does nothing.
type NopObserver struct{}

// ElectorCreated does nothing.
func (NopObserver) ElectorCreated(string, *Elector) {}

// AcquireAttempted does nothing.
func (NopObserver) AcquireAttempted(string, AcquireResult) {}

// LeaderChanged does nothing.
func (NopObserver) LeaderChanged(string, Leader) {}

// TermStarted does nothing.
func (NopObserver) TermStarted(string, int64) {}

// RenewAttempted does nothing.
func (NopObserver) RenewAttempted(string, Renewal) {}

// TermEnded does nothing.
func (NopObserver) TermEnded(string, EndReason, time.Duration) {}

// TermDrained does nothing.
func (NopObserver) TermDrained(string) {}
