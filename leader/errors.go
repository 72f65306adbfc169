package leader

import "errors"

var (
	// ErrLost ends a term whose lock turned out to be somebody else's, or gone.
	ErrLost = errors.New("leader: lock lost")

	// ErrExpired ends a term that was not renewed by its RenewDeadline.
	ErrExpired = errors.New("leader: not renewed by the deadline")

	// ErrResigned ends a term because Resign was called.
	ErrResigned = errors.New("leader: resigned")

	// ErrDrainTimeout is returned by Run when a callback was still running DrainTimeout
	// after it should have returned. The lock is not released then, but no longer
	// renewed: exit the program, so that the work ends before another candidate starts
	// its own.
	ErrDrainTimeout = errors.New("leader: callback still running after the drain timeout")

	// ErrAlreadyRunning is returned by Run while another Run of the same Elector, or
	// work that one left behind with ErrDrainTimeout, has not ended.
	ErrAlreadyRunning = errors.New("leader: already running")

	// errReturned ends a term whose OnStartedLeading returned, or panicked.
	errReturned = errors.New("leader: OnStartedLeading returned")

	// errFence ends a term, before its work has started, for which no fencing token
	// could be had that the protected resource accepts.
	errFence = errors.New("leader: no usable fencing token")

	// errPanicked ends a term because OnNewLeader panicked.
	errPanicked = errors.New("leader: callback panicked")
)
