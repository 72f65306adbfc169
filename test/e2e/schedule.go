package e2e

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"time"
)

// faultKind is a way to break something, named for the table at the end of a run.
type faultKind string

const (
	freezeCandidate faultKind = "candidate: SIGSTOP"
	killCandidate   faultKind = "candidate: SIGKILL, restart"
	endCandidate    faultKind = "candidate: SIGTERM, restart"
	holeLink        faultKind = "connection: hole"
	muteLink        faultKind = "connection: applied, no reply"
	delayLink       faultKind = "connection: late replies"
	cutLink         faultKind = "connection: cut"
	refuseLink      faultKind = "connection: refused"
	killClients     faultKind = "Redis: CLIENT KILL"
	killPubsub      faultKind = "Redis: CLIENT KILL TYPE pubsub"
	flushScripts    faultKind = "Redis: SCRIPT FLUSH"
	pauseClients    faultKind = "Redis: CLIENT PAUSE"
	freezeRedis     faultKind = "Redis: SIGSTOP"
	crashRedis      faultKind = "Redis: crash, restart with data"
	loseRedis       faultKind = "Redis: crash, restart without data"
	fillMemory      faultKind = "Redis: out of memory"
	flushAll        faultKind = "data: FLUSHALL"
	deleteLock      faultKind = "data: DEL of the lock"
	intrude         faultKind = "data: an intruder in the key"
	forge           faultKind = "data: forged announcements"
)

// place is where a fault strikes. Two faults on one place exclude each other.
type place int

const (
	atRedis place = iota
	atProcess
	atLink
)

// faultClass is what the schedule knows about a kind of fault.
type faultClass struct {
	kind        faultKind
	place       place
	least, most float64 // how long it holds, in leases; 0: it is over at once
}

var faultClasses = []faultClass{
	{freezeCandidate, atProcess, 0.3, 3},
	{killCandidate, atProcess, 0.1, 2},
	{endCandidate, atProcess, 0.1, 2},
	{holeLink, atLink, 0.3, 3},
	{muteLink, atLink, 0.3, 1},
	{delayLink, atLink, 0.3, 3},
	{cutLink, atLink, 0.3, 1},
	{refuseLink, atLink, 0.3, 3},
	{killClients, atRedis, 0, 0},
	{killPubsub, atRedis, 0, 0},
	{flushScripts, atRedis, 0, 0},
	{pauseClients, atRedis, 0.3, 3},
	{freezeRedis, atRedis, 0.3, 3},
	{crashRedis, atRedis, 0, 2},
	{loseRedis, atRedis, 0, 2},
	{fillMemory, atRedis, 0.5, 3},
	{flushAll, atRedis, 0, 0},
	{deleteLock, atRedis, 0, 0},
	{intrude, atRedis, 0.1, 1},
	{forge, atRedis, 0, 0},
}

const (
	candidates = 5
	theLeader  = -1 // a target: whoever leads when the fault strikes

	atOnce  = 3 // faults that hold at the same time, at most
	calmsIn = 7 // after so many faults all heal, and somebody has to lead
)

// step is a fault to inject, or a calm.
type step struct {
	faultClass
	at, hold time.Duration
	target   int // the index of a candidate, or theLeader
	dose     int // from 1 to 5: how much of it, or which sort
	calm     bool
}

func (s step) String() string {
	if s.calm {
		return "calm"
	}
	if s.hold == 0 {
		return fmt.Sprintf("%s, dose %d", s.kind, s.dose)
	}
	return fmt.Sprintf("%s, dose %d, for %v", s.kind, s.dose, s.hold.Round(time.Millisecond))
}

// schedule is what happens in a run, without end: first each kind of fault once, in
// random order, then kinds at random, with a calm now and then. It depends on nothing
// but the seed and the lease.
func schedule(seed uint64, lease time.Duration) iter.Seq[step] {
	return func(yield func(step) bool) {
		p := planner{random: rand.New(rand.NewPCG(seed, 0)), lease: lease}
		order := p.random.Perm(len(faultClasses))
		for n := 0; ; n++ {
			if n > 0 && n%calmsIn == 0 && !yield(p.calm()) {
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
	redisFree time.Duration   // when the fault at Redis is over
	heals     []time.Duration // of faults that hold
}

// between is a random time of so many leases.
func (p *planner) between(least, most float64) time.Duration {
	return time.Duration((least + p.random.Float64()*(most-least)) * float64(p.lease))
}

// fault plans one as soon as its place is free and few enough others hold.
func (p *planner) fault(c faultClass) step {
	s := step{faultClass: c, target: theLeader, dose: 1 + p.random.IntN(5), hold: p.between(c.least, c.most)}
	if p.random.IntN(2) == 0 {
		s.target = p.random.IntN(candidates)
	}
	s.at = p.now + p.between(0.1, 1.1)
	if c.place == atRedis {
		s.at = max(s.at, p.redisFree)
	}
	p.heals = slices.DeleteFunc(p.heals, func(heal time.Duration) bool { return heal < s.at })
	if len(p.heals) == atOnce {
		s.at = slices.Min(p.heals) + 1
		p.heals = slices.DeleteFunc(p.heals, func(heal time.Duration) bool { return heal < s.at })
		if c.place == atRedis {
			s.at = max(s.at, p.redisFree)
		}
	}
	if c.place == atRedis {
		p.redisFree = s.at + s.hold + 1
	}
	p.heals = append(p.heals, s.at+s.hold)
	p.now = s.at
	return s
}

// calm plans a time in which nothing is wrong.
func (p *planner) calm() step {
	s := step{calm: true, at: max(p.now, slices.Max(p.heals)) + 1, hold: p.lease}
	p.now, p.heals = s.at+s.hold, nil
	return s
}
