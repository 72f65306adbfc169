// Package clock measures how much time has passed, in the pessimistic way a lease needs.
//
// Go's monotonic clock stops while a Linux machine is suspended, and so do timers; the
// lease on the Redis server goes on running out. An Instant therefore holds three
// readings, and the time between two instants is the largest of the three differences:
// too early an end costs an election, too late an end costs exclusion.
package clock

import "time"

// Instant is one reading of all clocks. The zero value is no reading.
type Instant struct {
	now  time.Time     // monotonic clock
	wall time.Duration // wall clock, since 1970; apart from now, whose Sub would not look at it
	boot time.Duration // time since boot, suspend included; 0 where the system has no such clock
}

// Now reads the clocks. It costs well under a microsecond and does no I/O.
func Now() Instant {
	i := At(time.Now())
	i.boot = sinceBoot()
	return i
}

// Since is the time from earlier to i: the largest of the monotonic, boot-time and
// wall-clock differences. A wall clock set back is thereby ignored, one set forward
// counts.
func (i Instant) Since(earlier Instant) time.Duration {
	monotonic := i.now.Sub(earlier.now)
	return max(monotonic, i.wall-earlier.wall, i.boot-earlier.boot)
}

// Time is the wall-clock reading, for people to read.
func (i Instant) Time() time.Time { return time.Unix(0, int64(i.wall)) }

// At is an instant with the readings of t alone. Tests in a synctest bubble use
// At(time.Now()): boot time is real there while the other clocks are not.
func At(t time.Time) Instant { return Instant{now: t, wall: time.Duration(t.UnixNano())} }

// Suspended is i as it would have been read had the machine slept for d before: the
// monotonic clock stood still, the boot-time clock ran on, and the wall clock is not
// yet corrected. Tests inject it in the place of Now.
func (i Instant) Suspended(d time.Duration) Instant {
	i.boot += d
	return i
}

// SteppedWall is i as it would have been read had the wall clock been set forward by d,
// or back. Tests inject it in the place of Now.
func (i Instant) SteppedWall(d time.Duration) Instant {
	i.wall += d
	return i
}
