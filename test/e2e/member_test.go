//go:build chaos && unix

package e2e

import (
	"fmt"
	"slices"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// lateEach is how many writes a careless worker still sends after each term.
const lateEach = 5

// member is one of the candidates of a chaos run. When its process has ended, another
// one takes its place.
type member struct {
	index   int
	proxy   *faultproxy.Proxy
	process *process
	starts  int
	busy    map[place]bool // with a fault
}

// startMember starts a process with a label of its own. The workers differ in how they
// find out that their term is over, how long they take to stop and how careless they
// are afterwards. The clients differ too.
func (env *chaosEnvironment) startMember(m *member) {
	m.starts++
	label := fmt.Sprintf("%c%d", 'a'+m.index, m.starts)
	m.process = env.start(label, writing, func(s *settings) {
		s.Redis = m.proxy.Addr()
		s.EndCheck = []endCheck{checkDone, checkErr, checkTerm}[m.index%3]
		// Well within what lies between RenewDeadline and the lease.
		s.Drain = time.Duration(m.index%2) * env.lease / 12
		s.LateWrites = lateEach
		s.LateAfter = time.Duration(m.index%2) * env.lease / 2
		// The default of go-redis, for the work that has to be told while a call hangs.
		s.HangingReads = s.EndCheck == checkDone
	})
}

// target is the member that a fault acts on: the one that the step names, or the next
// one after it without a fault at the same place.
func (env *chaosEnvironment) target(s step) *member {
	first := s.target
	if first == theLeader {
		leader := env.leader()
		first = max(0, slices.IndexFunc(env.members, func(m *member) bool { return m.process.label == leader }))
	}
	for i := range env.members {
		if m := env.members[(first+i)%len(env.members)]; !m.busy[s.place] {
			return m
		}
	}
	env.t.Fatalf("all candidates have faults") // the schedule does not allow for that many
	return nil
}

// occupy keeps other faults at a place away from the member until the heal that it
// returns.
func (m *member) occupy(p place, heal func()) func() {
	m.busy[p] = true
	return func() {
		heal()
		m.busy[p] = false
	}
}

// leader is the label of the last candidate to start a term, or "" if that term is
// over.
func (env *chaosEnvironment) leader() string {
	start, _ := env.history.last(started.by(""))
	over := func(e event) bool { return stopped.by(start.Process)(e) || killed.by(start.Process)(e) }
	if len(env.history.since(start.At, over)) > 0 {
		return ""
	}
	return start.Process
}

// awaitReady waits until a member has reported something: before that it does not
// handle SIGTERM.
func (env *chaosEnvironment) awaitReady(m *member) {
	reported := func() bool {
		_, ok := env.history.last(func(e event) bool { return e.Process == m.process.label })
		return ok
	}
	for begin := monotonic(); !m.process.ended() && !reported(); time.Sleep(time.Millisecond) {
		if monotonic()-begin > waitLimit {
			env.t.Fatalf("%s does not report anything", m.process.label)
		}
	}
}
