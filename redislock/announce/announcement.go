package announce

import "time"

// Announcement is a hint about a lock that is being watched. The package comment says
// what it is worth.
type Announcement struct {
	// Kind says what happened.
	Kind Kind

	// Delay is how long to wait before the attempt that Subscribed or Released
	// suggests, so that many candidates do not try at the same instant. It is 0 for the
	// first of them.
	Delay time.Duration

	// Err says why announcements do not arrive. It is set only if Kind is Unavailable.
	Err error
}

// Kind is the kind of an Announcement.
type Kind int

const (
	// Subscribed says that announcements arrive from now on. What happened before went
	// unheard, so it is time to try. It is repeated after each loss of the connection.
	Subscribed Kind = iota

	// Released says that the lock was released.
	Released

	// Acquired says that somebody has obtained the lock, so an attempt would be in
	// vain. It goes to those that were notified of the release on the same channel as
	// the new holder.
	Acquired

	// Unavailable says that announcements do not arrive for now, or at all.
	Unavailable
)
