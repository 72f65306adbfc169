// Package clock measures how much time has passed, in the pessimistic way that a lease
// needs.
//
// While a Linux machine is suspended, Go's monotonic clock and timers stop, but the lease
// on the Redis server keeps running out. An Instant therefore holds three readings, and
// the time between two instants is the largest of the three differences. If a lease ends
// too early, that costs an election; if it ends too late, that costs exclusion.
package clock

import "time"

// Instant is one reading of all clocks. The zero value is no reading.
type Instant struct {
	now time.Time // the monotonic clock

	// wall is the wall clock, as the time since 1970. It is a field of its own because
	// now.Sub ignores the wall clock.
	wall time.Duration

	// boot is the time since boot, including suspends. It is 0 on systems without such a
	// clock.
	boot time.Duration
}

// Now reads the clocks. It takes well under a microsecond and does no I/O.
func Now() Instant {
	i := At(time.Now())
	i.boot = sinceBoot()
	return i
}

// Since is the time from earlier to i: the largest of the monotonic, boot-time and
// wall-clock differences. So it counts a wall clock that is set forward, and ignores one
// that is set back.
func (i Instant) Since(earlier Instant) time.Duration {
	monotonic := i.now.Sub(earlier.now)
	return max(monotonic, i.wall-earlier.wall, i.boot-earlier.boot)
}

// Time is the wall-clock reading, for people to read.
func (i Instant) Time() time.Time { return time.Unix(0, int64(i.wall)) }

// At is an instant that has only the readings of t. Tests in a synctest bubble use
// At(time.Now()), because the boot-time clock is real there and the other clocks are
// not.
func At(t time.Time) Instant { return Instant{now: t, wall: time.Duration(t.UnixNano())} }

// Suspended is the instant that Now would have returned instead of i if the machine had
// just been suspended for d: the monotonic clock stood still, the boot-time clock ran,
// and the wall clock has not been corrected yet. Tests use it in place of Now.
func (i Instant) Suspended(d time.Duration) Instant {
	i.boot += d
	return i
}

// SteppedWall is the instant that Now would have returned instead of i if the wall clock
// had been set forward by d, or back if d is negative. Tests use it in place of Now.
func (i Instant) SteppedWall(d time.Duration) Instant {
	i.wall += d
	return i
}
