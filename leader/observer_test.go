package leader

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// observerCalls is an Observer that records its calls, and what the getters of the
// elector return during them. A call that equals the one before is left out.
type observerCalls struct {
	e      *Elector
	lasted time.Duration // of the last term that ended
	mu     sync.Mutex
	calls  []string
}

func (c *observerCalls) note(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	call := fmt.Sprintf(format, args...)
	if len(c.calls) == 0 || c.calls[len(c.calls)-1] != call {
		c.calls = append(c.calls, call)
	}
}

// take returns what was recorded since the last take.
func (c *observerCalls) take() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	calls := c.calls
	c.calls = nil
	return calls
}

func (c *observerCalls) ElectorCreated(name string, e *Elector) {
	c.e = e
	c.note("created %s leader=%t", name, e.IsLeader())
}
func (c *observerCalls) AcquireAttempted(name string, result AcquireResult) {
	c.note("acquire %s", result)
}
func (c *observerCalls) LeaderChanged(name string, l Leader) {
	c.note("leader is %s %d", l.Identity, l.FenceToken)
}
func (c *observerCalls) TermStarted(name string, fence int64) {
	c.note("term %d started leader=%t", fence, c.e.IsLeader())
}
func (c *observerCalls) RenewAttempted(name string, r Renewal) {
	if r.Err != nil {
		c.note("renewal failed leader=%t", c.e.IsLeader())
		return
	}
	c.note("renewed after %d attempts, margin %v", r.Attempts, r.Margin)
}
func (c *observerCalls) TermEnded(name string, reason EndReason, lasted time.Duration) {
	c.note("term ended: %s, leader=%t", reason, c.e.IsLeader())
	c.lasted = lasted
}
func (c *observerCalls) TermDrained(name string) { c.note("drained") }

func TestObserverSeesAWholeLife(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var seen observerCalls
		expect := func(when string, want ...string) {
			t.Helper()
			if got := seen.take(); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: calls\n%q, want\n%q", when, got, want)
			}
		}
		other := newReplica(t, server, "other", nil).start(t)
		await(t, 0, "the other leads", other.IsLeader)
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Observer = &seen
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(testLease) }
		})
		expect("New", "created test leader=false")
		a.start(t)
		expect("a follows", "acquire held", "leader is other 1")
		time.Sleep(testLease)
		expect("a follows on", "acquire held")
		other.join()
		await(t, testLease, "a leads", a.atWork)
		expect("a leads", "acquire won", "term 2 started leader=true", "leader is a 2")
		begin := time.Now()
		time.Sleep(a.timing.renew)
		expect("a is renewed", "renewed after 1 attempts, margin "+(a.timing.deadline-a.timing.renew).String())
		server.setFault(func(op string) memFault { return memFault{err: errDown} })
		time.Sleep(a.timing.renew)
		expect("the first attempt fails", "renewal failed leader=true")
		server.setFault(nil)
		time.Sleep(a.timing.pause)
		if got := seen.take(); len(got) != 1 || got[0][:len("renewed after 2 attempts")] != "renewed after 2 attempts" {
			t.Errorf("the second succeeds: calls %q", got)
		}
		server.delete(a.key)
		await(t, testLease, "a loses", func() bool { return !a.IsLeader() })
		expect("a loses", "renewal failed leader=true", "term ended: lost, leader=false")
		if passed := time.Since(begin); seen.lasted > passed+2*time.Millisecond || seen.lasted < passed-2*time.Millisecond {
			t.Errorf("the term lasted %v, want %v", seen.lasted, passed)
		}
		time.Sleep(testLease)
		expect("a has drained", "drained")
		await(t, testLease, "a leads again", a.atWork)
		expect("a leads again", "acquire won", "term 3 started leader=true", "leader is a 3")
		if err := a.join(); err != nil {
			t.Error(err)
		}
		got := seen.take()
		if len(got) < 2 || got[0] != "term ended: stopped, leader=false" || got[len(got)-1] != "drained" {
			t.Errorf("a stops: calls %q", got)
		}
		for _, call := range got[1 : len(got)-1] { // renewed while it drains
			if call[:len("renewed after 1")] != "renewed after 1" {
				t.Errorf("a stops: calls %q", got)
			}
		}
		time.Sleep(time.Minute)
		expect("afterwards")
	})
}

func TestObserverIsNotToldOfATermThatNeverBegan(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var seen observerCalls
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Observer = &seen
			cfg.FenceFloor = func(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() }
		}).start(t)
		synctest.Wait()
		a.join()
		if got, want := seen.take(), []string{"created test leader=false", "acquire won"}; !reflect.DeepEqual(got, want) {
			t.Errorf("calls %q, want %q", got, want)
		}
	})
}

func TestOutcomesAreListed(t *testing.T) {
	if got := AcquireResults(); len(got) != 3 {
		t.Errorf("AcquireResults = %v", got)
	}
	if got := EndReasons(); len(got) != 8 {
		t.Errorf("EndReasons = %v", got)
	}
}
