//go:build chaos && unix

package e2e

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// chaosEnvironment is the environment of a chaos run. Everything but the candidates,
// the proxies and the reader runs on the goroutine of the test.
type chaosEnvironment struct {
	*environment
	t           *testing.T
	members     []*member
	faults      map[faultKind]int // injected
	ends        []faultEnd        // of the active faults, in order
	stopReading func()            // stops the reader and waits for it; may be called again
}

// faultEnd is the end of an active fault.
type faultEnd struct {
	at   time.Duration
	heal func()
}

// newChaosEnvironment starts the servers, which end with the test, and the candidates.
//
// Redis appends each command to its log before it answers, so a crash loses no
// acknowledged write. When that log reaches the disk is left to the operating system:
// it is Redis that crashes here, not the machine.
func newChaosEnvironment(t *testing.T) *chaosEnvironment {
	env := &chaosEnvironment{
		environment: startServers(t, shortLease, "--appendonly", "yes", "--appendfsync", "no"),
		t:           t,
		faults:      make(map[faultKind]int),
	}
	t.Cleanup(env.saveHistory)
	t.Cleanup(env.killAll)
	for i := range candidates {
		m := &member{index: i, proxy: faultproxy.Start(t, env.server.Addr()), busy: make(map[place]bool)}
		env.members = append(env.members, m)
		env.startMember(m)
	}
	env.await(0, "", started)
	env.stopReading = env.startReading()
	t.Cleanup(env.stopReading)
	return env
}

// saveHistory writes the whole history of a failed test to a file that outlives it.
func (env *chaosEnvironment) saveHistory() {
	if !env.t.Failed() {
		return
	}
	file, err := os.CreateTemp("", "chaos-*.txt")
	if err == nil {
		_, err = file.WriteString(env.history.String())
		_ = file.Close() // the write has succeeded, or failed
	}
	if err != nil {
		env.t.Errorf("history: %v", err)
		return
	}
	env.t.Logf("the whole history: %s", file.Name())
}

// killAll is for a test that has failed; otherwise all processes have ended by now.
func (env *chaosEnvironment) killAll() {
	for _, p := range env.processes {
		p.killGroup()
		<-p.done
	}
}

// recovery is how soon somebody leads once all faults are over: a dead leader's lease
// runs out, go-redis dials again, and a follower makes an attempt.
func (env *chaosEnvironment) recovery() time.Duration {
	return env.lease + env.retryBound() + redial + slack
}

// run carries out a schedule for some time. When a step takes longer than planned, the
// rest is delayed.
func (env *chaosEnvironment) run(steps iter.Seq[step], length time.Duration) {
	begin := monotonic()
	origin := begin
	for s := range steps {
		env.sleepUntil(origin + s.at)
		if monotonic()-begin >= length {
			break
		}
		origin = max(origin, monotonic()-s.at)
		if s.quiet {
			env.quiet()
			continue
		}
		env.apply(s, origin)
	}
	env.quiet()
	env.stopReading()
}

// apply injects a fault and schedules its end. The end counts from the schedule's time,
// not from now, so it comes before the next fault at the same place.
func (env *chaosEnvironment) apply(s step, origin time.Duration) {
	env.faults[s.kind]++
	if heal := env.inject(s); heal != nil {
		env.ends = append(env.ends, faultEnd{origin + s.at + s.hold, heal})
		slices.SortStableFunc(env.ends, func(a, b faultEnd) int { return cmp.Compare(a.at, b.at) })
	}
}

// sleepUntil waits, and ends the faults that are due in the meantime.
func (env *chaosEnvironment) sleepUntil(at time.Duration) {
	for len(env.ends) > 0 && env.ends[0].at <= at {
		next := env.ends[0]
		env.ends = env.ends[1:]
		time.Sleep(next.at - monotonic())
		next.heal()
	}
	time.Sleep(at - monotonic())
}

// quiet ends all faults, waits until somebody leads, but no longer than that may take,
// and then for one lease.
func (env *chaosEnvironment) quiet() {
	if n := len(env.ends); n > 0 {
		env.sleepUntil(env.ends[n-1].at)
	}
	healed := env.record(recovers, env.recovery(), "all faults are over")
	for !env.ledSince(healed) && monotonic() < healed+env.recovery() {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(env.lease)
}

// ledSince reports whether somebody has shown since an instant that it leads.
func (env *chaosEnvironment) ledSince(at time.Duration) bool {
	return len(env.history.since(at, func(e event) bool { return e.Kind == started || e.Kind == renewed })) > 0
}

// finish ends all candidates and judges what has happened.
func (env *chaosEnvironment) finish() chaosResult {
	for _, m := range env.members {
		env.awaitReady(m)
	}
	r := chaosResult{history: env.history, bound: env.recovery(), problems: env.stop()}
	for _, p := range env.processes {
		r.problems = append(r.problems, leftovers(p)...)
	}
	ctx := context.Background()
	register, err := env.resource.register(ctx)
	env.must(err)
	control, err := env.resource.control(ctx)
	env.must(err)
	r.violations = check(env.history.all(), register)
	r.summary = newSummary(env.history.all(), control, r.violations, env.faults)
	return r
}

// leftovers finds what a process that has ended should not have left behind: errors on
// its standard error, and other processes of its group.
func leftovers(p *process) (problems []string) {
	if text := stderrErrors(p.stderr.String()); text != "" {
		problems = append(problems, fmt.Sprintf("standard error of %s:\n%s", p.label, text))
	}
	if err := syscall.Kill(-p.cmd.Process.Pid, 0); err != syscall.ESRCH {
		problems = append(problems, fmt.Sprintf("%s has left a process behind: %v", p.label, err))
	}
	return problems
}

// must fails the run if something failed that has to succeed.
func (env *chaosEnvironment) must(err error) {
	env.t.Helper()
	if err != nil {
		env.t.Fatal(err)
	}
}
