package e2e

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	candidates = 5
	theLeader  = -1 // as a target: whoever leads when the fault begins

	atOnce     = 3 // how many faults may be active at the same time
	quietEvery = 7 // after this many faults all of them end, and somebody has to lead
)

// step is a fault to inject, or a quiet period.
type step struct {
	faultClass
	at, hold time.Duration // when it begins, and for how long
	target   int           // the index of a candidate, or theLeader
	strength int           // from 1 to 5; some kinds take it as a variant
	quiet    bool
}

func (s step) String() string {
	if s.quiet {
		return "quiet period"
	}
	if s.hold == 0 {
		return fmt.Sprintf("%s, strength %d", s.kind, s.strength)
	}
	return fmt.Sprintf("%s, strength %d, for %v", s.kind, s.strength, s.hold.Round(time.Millisecond))
}

// schedule yields the steps of a run, without end: first each kind of fault once in
// random order, then kinds at random, with a quiet period now and then. It depends on
// the seed and the lease alone.
func schedule(seed uint64, lease time.Duration) iter.Seq[step] {
	return func(yield func(step) bool) {
		p := planner{random: rand.New(rand.NewPCG(seed, 0)), lease: lease}
		order := p.random.Perm(len(faultClasses))
		for n := 0; ; n++ {
			if n > 0 && n%quietEvery == 0 && !yield(p.quiet()) {
				return
			}
			class := p.random.IntN(len(faultClasses))
			if n < len(order) {
				class = order[n]
			}
			if !yield(p.fault(faultClasses[class])) {
				return
			}
		}
	}
}

// planner keeps the time of a schedule.
type planner struct {
	random    *rand.Rand
	lease     time.Duration
	now       time.Duration
	redisFree time.Duration   // when the fault at Redis ends
	ends      []time.Duration // of the active faults
}

// between is a random number of leases.
func (p *planner) between(least, most float64) time.Duration {
	return time.Duration((least + p.random.Float64()*(most-least)) * float64(p.lease))
}

// fault plans a fault for as soon as its place is free and few enough others are
// active.
func (p *planner) fault(c faultClass) step {
	s := step{faultClass: c, target: theLeader, strength: 1 + p.random.IntN(5), hold: p.between(c.least, c.most)}
	if p.random.IntN(2) == 0 {
		s.target = p.random.IntN(candidates)
	}
	s.at = p.free(c, p.now+p.between(0.1, 1.1))
	if len(p.ends) == atOnce {
		s.at = p.free(c, slices.Min(p.ends)+1)
	}
	if c.place == atRedis {
		p.redisFree = s.at + s.hold + 1
	}
	p.ends = append(p.ends, s.at+s.hold)
	p.now = s.at
	return s
}

// free is the first time from an instant on at which the place of a fault is free. It
// forgets faults that have ended by then.
func (p *planner) free(c faultClass, at time.Duration) time.Duration {
	if c.place == atRedis {
		at = max(at, p.redisFree)
	}
	p.ends = slices.DeleteFunc(p.ends, func(end time.Duration) bool { return end < at })
	return at
}

// quiet plans a period without faults.
func (p *planner) quiet() step {
	s := step{quiet: true, at: max(p.now, slices.Max(p.ends)) + 1, hold: p.lease}
	p.now, p.ends = s.at+s.hold, nil
	return s
}
