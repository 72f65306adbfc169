package leader

import "errors"

// Causes of the end of a term. Term.Check and context.Cause return errors that match
// them.
var (
	// ErrLost ends a term whose lock turned out to be somebody else's, or gone.
	ErrLost = errors.New("leader: lock lost")

	// ErrExpired ends a term that was not renewed by its RenewDeadline.
	ErrExpired = errors.New("leader: not renewed by the deadline")

	// ErrResigned ends a term because Resign, ResignTerm or RequestResign was called.
	ErrResigned = errors.New("leader: resigned")

	// ErrReturned ends a term whose OnStartedLeading returned before the term had
	// ended.
	ErrReturned = errors.New("leader: OnStartedLeading returned")

	// ErrPanicked ends a term because a callback panicked.
	ErrPanicked = errors.New("leader: callback panicked")

	// ErrFailed ends a term because its work called Term.Fail. The cause matches the
	// error given to Fail as well.
	ErrFailed = errors.New("leader: the work has failed")

	// ErrDeposed is for the work to pass to Term.Fail when the protected resource has
	// accepted a higher fencing token, which shows that somebody else leads by now.
	ErrDeposed = errors.New("leader: deposed")
)

var (
	// ErrDrainTimeout is returned by Run when a callback was still running DrainTimeout
	// after it should have returned. The lock is then neither released nor renewed:
	// exit the program, so that the work ends before another candidate starts its own.
	ErrDrainTimeout = errors.New("leader: callback still running after the drain timeout")

	// ErrAlreadyRunning is returned by Run while another Run of the same Elector has
	// not ended, or while work is still running that an earlier one left behind with
	// ErrDrainTimeout.
	ErrAlreadyRunning = errors.New("leader: already running")

	// errNoToken ends a term before its work has started, because it has no fencing
	// token that the protected resource would accept.
	errNoToken = errors.New("leader: no usable fencing token")
)
