package main

import (
	"fmt"
	"time"
)

// timings are those of an election, with the names of client-go. Locks use lease as
// their ttl.
type timings struct {
	lease    time.Duration
	deadline time.Duration
	retry    time.Duration
}

func (t timings) String() string {
	return fmt.Sprintf("%v / %v / %v", t.lease, t.deadline.Round(time.Millisecond), t.retry.Round(time.Millisecond))
}

// kubernetes are the defaults of Kubernetes components, and of package leader.
var kubernetes = timings{15 * time.Second, 10 * time.Second, 2 * time.Second}

// scaled are timings in the same proportion with another lease. client-go counts leases
// in whole seconds.
func scaled(lease time.Duration) timings {
	return timings{lease, lease * 2 / 3, lease * 2 / 15}
}

// plan is how much is measured.
type plan struct {
	short  bool
	rounds int

	slice   time.Duration // for which one contender runs before the next has its turn
	passes  int           // slices of each contender in a round
	workers int           // goroutines of the parallel measure

	waiting  timings               // of hand-overs and of idle electors
	widths   []int                 // numbers of waiters
	budget   map[int]time.Duration // for hand-overs among so many waiters, for each contender in each round
	handover int                   // hand-overs at most, the same

	crashing    timings // of crashes
	clientGo    timings // the same for client-go, which does not see a renewal less than a second after the one before
	crashRounds int
	crashes     int           // of each contender in each round
	patience    time.Duration // how long after the ttl a take-over is waited for
	filler      int           // other keys that expire

	idleNames int // elections observed for the idle cost
	idleFor   time.Duration

	electors int // for the footprint, half of them leading

	many       int // electors of the mass election, half of them leading
	manyFor    time.Duration
	manyTiming timings
}

func (o options) plan() plan {
	if o.short {
		return o.shortPlan()
	}
	return plan{
		rounds: o.rounds,
		slice:  50 * time.Millisecond, passes: 10, workers: 8,
		waiting: scaled(3 * time.Second), widths: []int{1, 10, 100}, handover: 40,
		budget:   map[int]time.Duration{1: 4500 * time.Millisecond, 10: 1500 * time.Millisecond, 100: 1500 * time.Millisecond},
		crashing: scaled(time.Second), clientGo: kubernetes, crashRounds: o.rounds, crashes: 20,
		patience: 5 * time.Second, filler: 100_000,
		idleNames: 10, idleFor: 15 * time.Second,
		electors: 1000,
		many:     10_000, manyFor: time.Minute, manyTiming: kubernetes,
	}
}

// shortPlan shows the shape of the results. Its ninety-ninth percentiles are maxima.
func (o options) shortPlan() plan {
	return plan{
		short:  true,
		rounds: o.rounds,
		slice:  15 * time.Millisecond, passes: 3, workers: 8,
		waiting: scaled(2 * time.Second), widths: []int{1, 100}, handover: 20,
		budget:   map[int]time.Duration{1: 200 * time.Millisecond, 100: 50 * time.Millisecond},
		crashing: scaled(time.Second), clientGo: scaled(8 * time.Second), crashRounds: 2, crashes: 15,
		patience: time.Second / 2, filler: 100_000,
		idleNames: 4, idleFor: 3 * time.Second,
		electors: 200,
		many:     1000, manyFor: 3 * time.Second, manyTiming: scaled(3 * time.Second),
	}
}
