//go:build unix

package e2e

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that stamps events. Go reads the same one, but shows it
// only as a difference to the start of the process, which says nothing to another
// process.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // it exists everywhere
	}
	return time.Duration(ts.Nano())
}

// stamp is the reading of that clock at t, which has to come from time.Now in this
// process: the subtraction then uses Go's monotonic reading in t, and no wall clock is
// involved. It is too early by the time between the two readings here, so that what is
// found to precede it really does.
func stamp(t time.Time) time.Duration {
	now := monotonic()
	return now - time.Since(t)
}
