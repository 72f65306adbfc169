package leader

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// testLease is the LeaseDuration of candidates under test. It makes a RenewDeadline of
// 1 s, a RetryPeriod of 200 ms and a renewal every 500 ms.
const testLease = 1500 * time.Millisecond

// replica is one candidate under test, with a record of what happened to it.
type replica struct {
	*Elector
	server *memServer
	stop   context.CancelFunc
	done   chan struct{}
	err    error // of Run, once done is closed
	panic  any   // that Run ended with

	mu     sync.Mutex
	events []string
	terms  []Term
	ctxs   []context.Context
	shift  time.Duration // how far the boot-time clock is ahead
}

// recorder is an Observer that writes the beginning and the end of terms into the
// replica's record.
type recorder struct {
	NopObserver
	r *replica
}

func (o recorder) TermStarted(string, int64) { o.r.record("began") }
func (o recorder) TermEnded(_ string, reason EndReason, _ time.Duration) {
	o.r.record(fmt.Sprintf("ended %s leader=%t ctx=%v", reason, o.r.IsLeader(), o.r.lastCtx() != nil && o.r.lastCtx().Err() != nil))
}

// newReplica makes a candidate on server. change may adjust its configuration.
func newReplica(t *testing.T, server *memServer, identity string, change func(*Config, *replica)) *replica {
	t.Helper()
	r := &replica{server: server, done: make(chan struct{})}
	cfg := r.config(identity, change)
	r.wrapCallbacks(&cfg, r.holds)
	if err := cfg.validate(); err != nil {
		t.Fatal(err)
	}
	r.Elector = newElector(server, cfg.withDefaults(), r.now)
	return r
}

// silent is a Logger for tests that do not look at the log. Without one an elector
// would write to slog.Default.
var silent = logr.FromSlogHandler(slog.DiscardHandler)

// config is that of a candidate for the election named "test", which leads until its
// context is done, with the changes of one test.
func (r *replica) config(identity string, change func(*Config, *replica)) Config {
	cfg := Config{Name: "test", Identity: identity, LeaseDuration: testLease, Observer: recorder{r: r}, Logger: silent}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done() }
	if change != nil {
		change(&cfg, r)
	}
	return cfg
}

// wrapCallbacks makes the callbacks leave a record. holds reports whether the server
// has this replica's lock.
func (r *replica) wrapCallbacks(cfg *Config, holds func() bool) {
	started, stopped := cfg.Callbacks.OnStartedLeading, cfg.Callbacks.OnStoppedLeading
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, term Term) {
		r.mu.Lock()
		r.terms, r.ctxs = append(r.terms, term), append(r.ctxs, ctx)
		r.mu.Unlock()
		r.record("started")
		defer r.record("returned")
		started(ctx, term)
	}
	cfg.Callbacks.OnStoppedLeading = func() {
		r.record(fmt.Sprintf("stopped, lock held=%t", holds()))
		if stopped != nil {
			stopped()
		}
	}
}

// holds reports whether the server still has this replica's lock.
func (r *replica) holds() bool {
	entry, ok := r.server.holder(LockKey("", "test"))
	return ok && decodeLeaderRecord(entry.metadata).Identity == r.cfg.Identity
}

func (r *replica) now() clock.Instant {
	r.mu.Lock()
	defer r.mu.Unlock()
	return clock.At(time.Now()).Suspended(r.shift)
}

// suspend lets time pass that only the boot-time clock shows.
func (r *replica) suspend(d time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shift += d
}

// start runs the candidate. When the test ends, and with it its bubble, the candidate
// is stopped and waited for.
func (r *replica) start(t *testing.T) *replica {
	ctx, cancel := context.WithCancel(t.Context())
	r.stop = cancel
	go func() {
		defer close(r.done)
		defer func() { r.panic = recover() }()
		r.err = r.Run(ctx)
	}()
	done := r.done
	t.Cleanup(func() {
		r.server.setFault(nil)
		cancel()
		<-done
	})
	return r
}

func (r *replica) join() error {
	r.stop()
	<-r.done
	return r.err
}

func (r *replica) record(event string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, event)
}

func (r *replica) recorded() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.events)
}

func (r *replica) countEvents(event string) int {
	n := 0
	for _, e := range r.recorded() {
		if e == event {
			n++
		}
	}
	return n
}

func (r *replica) lastCtx() context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ctxs) == 0 {
		return nil
	}
	return r.ctxs[len(r.ctxs)-1]
}

func (r *replica) lastTerm() Term {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.terms) == 0 {
		return Term{}
	}
	return r.terms[len(r.terms)-1]
}

// bubble runs f in a synctest bubble with a server in memory.
func bubble(t *testing.T, f func(t *testing.T, server *memServer)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newMemServer()) })
}

// await lets the bubble's time pass until condition holds, for at most limit, and fails
// the test if it does not.
func await(t *testing.T, limit time.Duration, what string, condition func() bool) time.Duration {
	t.Helper()
	start := time.Now()
	synctest.Wait()
	for !condition() {
		if time.Since(start) > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(time.Millisecond)
		synctest.Wait()
	}
	return time.Since(start)
}
