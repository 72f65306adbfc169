package main

import (
	"fmt"
	"time"
)

// timings are those of an election, with client-go's names. Locks use lease as their ttl.
type timings struct {
	lease    time.Duration
	deadline time.Duration
	retry    time.Duration
}

func (t timings) String() string {
	return fmt.Sprintf("%v / %v / %v",
		t.lease, t.deadline.Round(time.Millisecond), t.retry.Round(time.Millisecond))
}

// kubernetes are the defaults of Kubernetes components and of package leader.
var kubernetes = timings{15 * time.Second, 10 * time.Second, 2 * time.Second}

// scaled are timings with another lease, in the same proportion. client-go needs a lease
// in whole seconds.
func scaled(lease time.Duration) timings {
	return timings{lease, lease * 2 / 3, lease * 2 / 15}
}

// plan is how much is measured.
type plan struct {
	short  bool
	rounds int

	slice   time.Duration // how long one contender runs before the next has its turn
	passes  int           // slices of each contender in a round
	workers int           // goroutines of the parallel measurement

	waiting timings // of hand-overs and of idle electors
	widths  []int   // numbers of waiters

	// For each number of waiters, the time that one contender has for hand-overs in one
	// round, and how many there are at most.
	budget   map[int]time.Duration
	handover int

	// The timings of crashes. client-go has its own, because it does not see a renewal
	// that is less than a second after the one before.
	crashing     timings
	clientGo     timings
	crashRounds  int
	crashes      int           // of each contender in each round
	takeoverWait time.Duration // how long after the ttl to wait for a take-over
	filler       int           // other keys that expire

	idleNames int // elections that are observed
	idleFor   time.Duration

	electors int // for the footprint; half of them lead

	many       int // electors in one process; half of them lead
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
		budget: map[int]time.Duration{
			1:   4500 * time.Millisecond,
			10:  1500 * time.Millisecond,
			100: 1500 * time.Millisecond,
		},
		crashing: scaled(time.Second), clientGo: kubernetes, crashRounds: o.rounds, crashes: 20,
		takeoverWait: 5 * time.Second, filler: 100_000,
		idleNames: 10, idleFor: 15 * time.Second,
		electors: 1000,
		many:     10_000, manyFor: time.Minute, manyTiming: kubernetes,
	}
}

// shortPlan shows what the results look like. It has so few samples that each p99 is the
// maximum.
func (o options) shortPlan() plan {
	return plan{
		short:  true,
		rounds: o.rounds,
		slice:  15 * time.Millisecond, passes: 3, workers: 8,
		waiting: scaled(2 * time.Second), widths: []int{1, 100}, handover: 20,
		budget: map[int]time.Duration{
			1:   200 * time.Millisecond,
			100: 50 * time.Millisecond,
		},
		crashing: scaled(time.Second), clientGo: scaled(8 * time.Second),
		crashRounds: 2, crashes: 15,
		takeoverWait: time.Second / 2, filler: 100_000,
		idleNames: 4, idleFor: 3 * time.Second,
		electors: 200,
		many:     1000, manyFor: 3 * time.Second, manyTiming: scaled(3 * time.Second),
	}
}
