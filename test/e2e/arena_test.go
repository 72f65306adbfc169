//go:build chaos && unix

package e2e

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"iter"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

// lateEach is how many writes a careless worker still sends after each term.
const lateEach = 5

// arena is what a chaos run plays in. Everything but the candidates, the proxies and
// the reader happens on the goroutine of the test.
type arena struct {
	*scene
	t       *testing.T
	slots   []*slot
	faults  map[faultKind]int // injected
	healing []healing         // due, in order
	readers func()            // stops reading and waits; more than once does no harm
}

// slot is the place of a candidate, which is filled again after a kill.
type slot struct {
	index   int
	proxy   *faultproxy.Proxy
	process *process
	starts  int
	busy    map[place]bool // with a fault
}

// healing is the end of a fault.
type healing struct {
	at   time.Duration
	heal func()
}

// newArena starts the servers, which end with the test, and the candidates.
//
// Redis writes each command to its log before it answers, so that a crash loses nothing
// that was acknowledged. It leaves it to the operating system when to write that to the
// disk: what crashes is Redis, not the machine.
func newArena(t *testing.T) *arena {
	a := &arena{t: t, faults: make(map[faultKind]int)}
	a.scene = &scene{
		server:  redistest.Start(t, "--appendonly", "yes", "--appendfsync", "no"),
		store:   redistest.Start(t),
		prefix:  "chaos:" + rand.Text() + ":",
		lease:   shortLease,
		history: new(history),
	}
	a.client = a.server.Client(t)
	a.resource = resource{a.store.Client(t)}
	t.Cleanup(a.keep)
	t.Cleanup(a.killAll)
	for i := range candidates {
		s := &slot{index: i, proxy: faultproxy.Start(t, a.server.Addr()), busy: make(map[place]bool)}
		a.slots = append(a.slots, s)
		a.fill(s)
	}
	a.await(0, "", started)
	a.readers = a.startReading()
	t.Cleanup(a.readers)
	return a
}

// keep writes the whole history of a test that has failed to a file that outlives it.
func (a *arena) keep() {
	if !a.t.Failed() {
		return
	}
	file, err := os.CreateTemp("", "chaos-*.txt")
	if err == nil {
		_, err = file.WriteString(a.history.String())
		_ = file.Close() // the write has succeeded, or failed
	}
	if err != nil {
		a.t.Errorf("history: %v", err)
		return
	}
	a.t.Logf("the whole history: %s", file.Name())
}

// killAll is for a test that has failed: otherwise all have ended.
func (a *arena) killAll() {
	for _, p := range a.processes {
		p.killGroup()
		<-p.done
	}
}

// fill starts a candidate in a slot, with a label of its own. The workers differ in how
// they find out that their term is over, in how long they take to end and how careless
// they are afterwards, and in their clients.
func (a *arena) fill(s *slot) {
	s.starts++
	label := fmt.Sprintf("%c%d", 'a'+s.index, s.starts)
	s.process = a.start(label, writing, func(set *settings) {
		set.Redis = s.proxy.Addr()
		set.Look = []look{lookAtDone, lookAtErr, lookAtCheck}[s.index%3]
		set.Drain = time.Duration(s.index%2) * a.lease / 12 // well within what lies between RenewDeadline and the lease
		set.LateWrites = lateEach
		set.LateAfter = time.Duration(s.index%2) * a.lease / 2
		set.HangingReads = set.Look == lookAtDone // go-redis's default, and the work that has to be told while a call hangs
	})
}

// recovery is within which somebody leads once all faults have healed: the lease of a
// dead leader runs out, go-redis dials again, and a follower looks.
func (a *arena) recovery() time.Duration { return a.lease + a.retryBound() + redial + slack }

// run carries out a schedule for some time. When a step takes its time, the rest is put
// off.
func (a *arena) run(steps iter.Seq[step], length time.Duration) {
	begin := monotonic()
	origin := begin
	for s := range steps {
		a.sleepUntil(origin + s.at)
		if monotonic()-begin >= length {
			break
		}
		origin = max(origin, monotonic()-s.at)
		if s.calm {
			a.calm()
			continue
		}
		a.strike(s, origin)
	}
	a.calm()
	a.readers()
}

// strike injects a fault and remembers to heal it, by the same clock as the schedule,
// so that it heals before the next one on its place.
func (a *arena) strike(s step, origin time.Duration) {
	a.faults[s.kind]++
	if heal := a.inject(s); heal != nil {
		a.healing = append(a.healing, healing{origin + s.at + s.hold, heal})
		slices.SortStableFunc(a.healing, func(x, y healing) int { return cmp.Compare(x.at, y.at) })
	}
}

// sleepUntil waits, and heals what is due meanwhile.
func (a *arena) sleepUntil(at time.Duration) {
	for len(a.healing) > 0 && a.healing[0].at <= at {
		next := a.healing[0]
		a.healing = a.healing[1:]
		time.Sleep(next.at - monotonic())
		next.heal()
	}
	time.Sleep(at - monotonic())
}

// calm heals everything, waits until somebody leads, but no longer than that may take,
// and then for a lease.
func (a *arena) calm() {
	a.sleepUntil(monotonic() + a.held())
	healed := a.note(recovers, a.recovery(), "all faults have healed")
	for !a.led(healed) && monotonic() < healed+a.recovery() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(a.lease)
}

// held is how long faults still hold.
func (a *arena) held() time.Duration {
	if len(a.healing) == 0 {
		return 0
	}
	return a.healing[len(a.healing)-1].at - monotonic()
}

// led reports whether somebody has shown since an instant that it leads.
func (a *arena) led(since time.Duration) bool {
	return len(a.history.since(since, func(e event) bool { return e.Kind == started || e.Kind == renewed })) > 0
}

// finish ends all candidates and looks at what has happened.
func (a *arena) finish() verdict {
	for _, s := range a.slots {
		a.ready(s)
	}
	v := verdict{history: a.history, bound: a.recovery(), problems: a.stop()}
	for _, p := range a.processes {
		if text := complaint(p.stderr.String()); text != "" {
			v.problems = append(v.problems, fmt.Sprintf("standard error of %s:\n%s", p.label, text))
		}
		if err := syscall.Kill(-p.cmd.Process.Pid, 0); err != syscall.ESRCH {
			v.problems = append(v.problems, fmt.Sprintf("%s has left a process behind: %v", p.label, err))
		}
	}
	register, err := a.resource.register(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	control, err := a.resource.control(context.Background())
	if err != nil {
		a.t.Fatal(err)
	}
	v.violations = check(a.history.all(), register)
	v.tally = newTally(a.history.all(), control, v.violations, a.faults)
	return v
}
