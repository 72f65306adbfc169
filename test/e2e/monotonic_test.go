//go:build unix

package e2e

import (
	"time"

	"golang.org/x/sys/unix"
)

// monotonic reads the clock that all events are stamped with. Go reads the same one,
// but shows it only relative to the start of the process, which means nothing to
// another process.
func monotonic() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err) // every platform has this clock
	}
	return time.Duration(ts.Nano())
}

// stamp is the reading of that clock at t, which has to come from time.Now in this
// process: the subtraction then uses Go's monotonic reading in t, and no wall clock.
// The result is early by the time between the two readings made here, so whatever
// precedes it in the history really came first.
func stamp(t time.Time) time.Duration {
	now := monotonic()
	return now - time.Since(t)
}
