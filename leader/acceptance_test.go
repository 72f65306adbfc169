package leader

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestAcceptance holds both backends to the same contract.
func TestAcceptance(t *testing.T) {
	for _, clause := range []struct {
		name string
		test func(*testing.T, backend)
	}{
		{"FirstElection", acceptFirstElection},
		{"ExclusiveAmongFive", acceptExclusive},
		{"HandOver", acceptHandOver},
		{"Loss", acceptLoss},
		{"Expiry", acceptExpiry},
		{"Drain", acceptDrain},
		{"DrainTimeout", acceptDrainTimeout},
		{"Resign", acceptResign},
		{"EarlyReturn", acceptEarlyReturn},
		{"PanicInTheWork", acceptPanic},
		{"PanicInOnStoppedLeading", acceptPanicWhenStopped},
		{"PanicInOnNewLeader", acceptPanicInOnNewLeader},
		{"FenceFloor", acceptFenceFloor},
		{"FailingFenceFloor", acceptFailingFenceFloor},
		{"WhoLeads", acceptWhoLeads},
	} {
		t.Run(clause.name+"/memory", func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) { clause.test(t, memoryBackend{t, server}) })
		})
		t.Run(clause.name+"/redis", func(t *testing.T) {
			t.Parallel()
			clause.test(t, redisBackend{newEnvironment(t)})
		})
	}
}

// leads runs a candidate and waits until its work has started.
func leads(on backend, r *replica) *replica {
	on.run(r)
	on.await(2*testLease, r.cfg.Identity+" leads", r.atWork)
	return r
}

func acceptFirstElection(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", nil))
	term := a.lastTerm()
	if term.Name() != "test" || term.Identity() != "a" || term.FenceToken() < 1 || term.Check() != nil || term.StartedAt().IsZero() {
		t.Errorf("term = %q %q %d %v %v", term.Name(), term.Identity(), term.FenceToken(), term.Check(), term.StartedAt())
	}
	if left := term.Remaining(); left <= 0 || left > a.timing.deadline {
		t.Errorf("Remaining = %v, want up to %v", left, a.timing.deadline)
	}
	if from, ok := TermFromContext(a.lastCtx()); !ok || from != term {
		t.Errorf("TermFromContext = %v, %t", from, ok)
	}
	if on.holder() != "a" {
		t.Errorf("%q holds the lock", on.holder())
	}
	time.Sleep(testLease) // renewed meanwhile
	if !a.IsLeader() || a.lastTerm() != term {
		t.Error("the term was not renewed")
	}
	if err := a.join(); err != nil || on.holder() != "" {
		t.Errorf("Run = %v, %q holds the lock", err, on.holder())
	}
	if err := term.Check(); !errors.Is(err, context.Canceled) || term.Remaining() != 0 {
		t.Errorf("afterwards Check = %v, Remaining = %v", err, term.Remaining())
	}
	want := []string{"began", "started", "ended stopped leader=false ctx=false", "returned", "stopped, lock held=true"}
	if got := a.recorded(); !reflect.DeepEqual(got, want) {
		t.Errorf("events %q, want %q", got, want)
	}
}

func acceptExclusive(t *testing.T, on backend) {
	var working, most atomic.Int32
	var replicas []*replica
	for i := range 5 {
		replicas = append(replicas, on.run(on.candidate(fmt.Sprint("r", i), func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
				most.Store(max(most.Load(), working.Add(1)))
				<-ctx.Done()
				time.Sleep(10 * time.Millisecond)
				working.Add(-1)
			}
		})))
	}
	var last int64
	for len(replicas) > 0 {
		var leader *replica
		on.await(2*testLease, "somebody leads", func() bool {
			i := slices.IndexFunc(replicas, (*replica).atWork)
			if i >= 0 {
				leader = replicas[i]
				replicas = slices.Delete(replicas, i, i+1)
			}
			return i >= 0
		})
		if fence := leader.lastTerm().FenceToken(); fence <= last {
			t.Errorf("fencing token %d after %d", fence, last)
		} else {
			last = fence
		}
		if err := leader.join(); err != nil {
			t.Error(err)
		}
	}
	if most.Load() != 1 {
		t.Errorf("%d worked at a time", most.Load())
	}
}

func acceptHandOver(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", nil))
	var aReturned bool
	b := on.run(on.candidate("b", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
			aReturned = slices.Contains(a.recorded(), "stopped, lock held=true")
			<-ctx.Done()
		}
	}))
	on.await(testLease, "b knows a", func() bool { return b.GetLeader() == "a" })
	if err := a.join(); err != nil {
		t.Error(err)
	}
	on.await(2*a.timing.retry, "b leads", b.atWork)
	if a.lastTerm().FenceToken() >= b.lastTerm().FenceToken() {
		t.Errorf("fencing token %d after %d", b.lastTerm().FenceToken(), a.lastTerm().FenceToken())
	}
	b.join()
	if !aReturned {
		t.Error("b's work started before a's callbacks had returned")
	}
}

func acceptLoss(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", nil))
	ctx, term := a.lastCtx(), a.lastTerm()
	on.steal()
	on.await(testLease/3+time.Millisecond, "the term ends", func() bool { return ctx.Err() != nil })
	if a.IsLeader() || !errors.Is(context.Cause(ctx), ErrLost) || !errors.Is(term.Check(), ErrLost) {
		t.Errorf("leader %t, cause %v, check %v", a.IsLeader(), context.Cause(ctx), term.Check())
	}
	on.await(testLease, "a knows the intruder", func() bool { return a.GetLeader() == "intruder" })
	time.Sleep(2 * a.timing.retry)
	if on.holder() != "intruder" {
		t.Errorf("%q took the lock back", on.holder())
	}
	on.remove()
	on.await(2*a.timing.retry, "a leads again", a.atWork)
	if a.lastTerm().FenceToken() <= term.FenceToken() {
		t.Errorf("fencing token %d after %d", a.lastTerm().FenceToken(), term.FenceToken())
	}
}

func acceptExpiry(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", nil))
	ctx, term := a.lastCtx(), a.lastTerm()
	on.sever()
	on.await(a.timing.deadline+time.Millisecond, "the term ends", func() bool { return ctx.Err() != nil })
	if a.IsLeader() || !errors.Is(context.Cause(ctx), ErrExpired) || !errors.Is(term.Check(), ErrExpired) {
		t.Errorf("leader %t, cause %v, check %v", a.IsLeader(), context.Cause(ctx), term.Check())
	}
	on.await(testLease, "a's lock runs out", func() bool { return on.holder() == "" })
	on.heal()
	on.await(2*a.timing.retry, "a leads again", a.atWork)
	if a.lastTerm().FenceToken() <= term.FenceToken() || a.stops() != 1 {
		t.Errorf("fencing token %d after %d, %d stops", a.lastTerm().FenceToken(), term.FenceToken(), a.stops())
	}
}

func acceptDrain(t *testing.T, on backend) {
	finish := make(chan struct{})
	a := leads(on, on.candidate("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration = testLease / 2
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
	}))
	b := on.run(on.candidate("b", nil))
	a.stop()
	on.await(testLease, "a is told", func() bool { return a.lastCtx().Err() != nil })
	time.Sleep(testLease)
	if on.holder() != "a" || b.starts() != 0 || a.IsLeader() {
		t.Errorf("while a drains %q holds the lock, b has started %d times, a leads = %t", on.holder(), b.starts(), a.IsLeader())
	}
	close(finish)
	on.await(2*b.timing.retry, "b leads", b.atWork)
	if <-a.done; a.err != nil || a.countEvents("stopped, lock held=true") != 1 {
		t.Errorf("Run = %v, events %q", a.err, a.recorded())
	}
}

func acceptDrainTimeout(t *testing.T, on backend) {
	finish := make(chan struct{})
	a := leads(on, on.candidate("a", func(cfg *Config, _ *replica) {
		cfg.LeaseDuration, cfg.DrainTimeout = testLease/2, testLease/10
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
	}))
	a.stop()
	if <-a.done; !errors.Is(a.err, ErrDrainTimeout) {
		t.Errorf("Run = %v", a.err)
	}
	if on.holder() != "a" {
		t.Error("the lock was released while the work ran")
	}
	if err := a.Run(t.Context()); !errors.Is(err, ErrAlreadyRunning) {
		t.Errorf("Run = %v while the old work runs", err)
	}
	on.await(testLease/2, "the lock runs out", func() bool { return on.holder() == "" })
	close(finish)
	on.await(testLease, "OnStoppedLeading", func() bool { return a.stops() == 1 })
}

func acceptResign(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", nil))
	ctx := a.lastCtx()
	b := on.run(on.candidate("b", nil))
	on.await(testLease, "b knows a", func() bool { return b.GetLeader() == "a" })
	if err := a.Resign(t.Context()); err != nil {
		t.Fatal(err)
	}
	if a.IsLeader() || !errors.Is(context.Cause(ctx), ErrResigned) || a.stops() != 1 {
		t.Errorf("after Resign: leader %t, cause %v, %d stops", a.IsLeader(), context.Cause(ctx), a.stops())
	}
	on.await(2*a.timing.retry, "b leads", b.atWork)
	if err := a.Resign(t.Context()); err != nil || !b.IsLeader() {
		t.Errorf("Resign of a follower = %v, b leads = %t", err, b.IsLeader())
	}
	b.join()
	on.await(3*a.timing.retry, "a leads again", a.atWork)
}

func acceptEarlyReturn(t *testing.T, on backend) {
	a := on.run(on.candidate("a", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnStartedLeading = func(context.Context, Term) {}
	}))
	on.await(testLease, "a has led twice", func() bool { return a.stops() >= 2 })
	if err := a.join(); err != nil || on.holder() != "" || a.starts() != a.stops() {
		t.Errorf("Run = %v, %q holds the lock, %d starts, %d stops", err, on.holder(), a.starts(), a.stops())
	}
	if !slices.ContainsFunc(a.recorded(), func(e string) bool { return strings.HasPrefix(e, "ended returned leader=false") }) {
		t.Errorf("events %q", a.recorded())
	}
}

var errBoom = errors.New("boom")

// panicked runs a candidate whose callback panics and checks what is left.
func panicked(t *testing.T, on backend, change func(*Callbacks)) {
	t.Helper()
	a := on.run(on.candidate("a", func(cfg *Config, _ *replica) { change(&cfg.Callbacks) }))
	if <-a.done; a.panic != errBoom {
		t.Errorf("Run panicked with %v, want the callback's value", a.panic)
	}
	if on.holder() != "" || a.IsLeader() || a.starts() != a.stops() {
		t.Errorf("%q holds the lock, leader %t, %d starts, %d stops", on.holder(), a.IsLeader(), a.starts(), a.stops())
	}
}

func acceptPanic(t *testing.T, on backend) {
	panicked(t, on, func(c *Callbacks) { c.OnStartedLeading = func(context.Context, Term) { panic(errBoom) } })
}

func acceptPanicWhenStopped(t *testing.T, on backend) {
	panicked(t, on, func(c *Callbacks) {
		c.OnStartedLeading = func(context.Context, Term) {}
		c.OnStoppedLeading = func() { panic(errBoom) }
	})
}

func acceptPanicInOnNewLeader(t *testing.T, on backend) {
	panicked(t, on, func(c *Callbacks) { c.OnNewLeader = func(string) { panic(errBoom) } })
}

func acceptFenceFloor(t *testing.T, on backend) {
	const floor = 1 << 52 // above any server's clock in microseconds
	asked := 0
	a := leads(on, on.candidate("a", func(cfg *Config, r *replica) {
		cfg.FenceFloor = func(ctx context.Context) (int64, error) {
			if asked++; r.IsLeader() || ctx.Err() != nil {
				t.Errorf("while asking: leader %t, ctx %v", r.IsLeader(), ctx.Err())
			}
			return floor, nil
		}
	}))
	if fence := a.lastTerm().FenceToken(); fence != floor+1 || asked != 1 {
		t.Errorf("fencing token %d after %d calls", fence, asked)
	}
	time.Sleep(testLease)
	if !a.IsLeader() || a.starts() != 1 {
		t.Errorf("leader %t, %d terms: the raised term is not renewed", a.IsLeader(), a.starts())
	}
}

func acceptFailingFenceFloor(t *testing.T, on backend) {
	var asked atomic.Int32
	a := on.run(on.candidate("a", func(cfg *Config, _ *replica) {
		cfg.FenceFloor = func(context.Context) (int64, error) { asked.Add(1); return 0, errors.New("no resource") }
	}))
	on.await(testLease, "two attempts", func() bool { return asked.Load() >= 2 })
	if err := a.join(); err != nil || len(a.recorded()) != 0 || on.holder() != "" {
		t.Errorf("Run = %v, events %q, %q holds the lock", err, a.recorded(), on.holder())
	}
}

func acceptWhoLeads(t *testing.T, on backend) {
	a := leads(on, on.candidate("a", func(cfg *Config, _ *replica) { cfg.Metadata = map[string]string{"zone": "z1"} }))
	var mu sync.Mutex
	var calls []string
	seen := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(calls)
	}
	b := on.run(on.candidate("b", func(cfg *Config, _ *replica) {
		cfg.Callbacks.OnNewLeader = func(identity string) { mu.Lock(); calls = append(calls, identity); mu.Unlock() }
	}))
	on.await(testLease, "b knows", func() bool { return b.GetLeader() == "a" })
	if leader, ok := b.Leader(); !ok || leader.FenceToken != a.lastTerm().FenceToken() || leader.Metadata["zone"] != "z1" {
		t.Errorf("b's Leader = %+v, %t", leader, ok)
	}
	if leader, ok := a.Leader(); !ok || leader.Identity != "a" || leader.FenceToken != a.lastTerm().FenceToken() {
		t.Errorf("a's Leader = %+v, %t", leader, ok)
	}
	a.join()
	on.await(2*testLease, "b is told of itself", func() bool { return slices.Equal(seen(), []string{"a", "b"}) })
	if b.GetLeader() != "b" {
		t.Errorf("b says that %q leads", b.GetLeader())
	}
	b.join()
	if b.GetLeader() != "" {
		t.Errorf("GetLeader = %q after everybody left", b.GetLeader())
	}
}
