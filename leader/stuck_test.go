package leader

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
)

// The goroutine of Run is stuck in a Logger. The work learns of the end of its term
// nevertheless.
func TestTermEndsThoughTheLoggerBlocks(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		unblock := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = funcr.New(func(_, line string) {
				if strings.Contains(line, "Cannot renew") {
					<-unblock
				}
			}, funcr.Options{})
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		ctx, acquired := a.lastCtx(), time.Now()
		server.setFault(func(string) memFault { return memFault{err: errDown} })
		<-ctx.Done()
		if took := time.Since(acquired); took != a.timing.deadline || !errors.Is(context.Cause(ctx), ErrExpired) {
			t.Errorf("the work learned of the end after %v: %v", took, context.Cause(ctx))
		}
		close(unblock)
		server.setFault(nil)
		a.join()
	})
}

// A renewal that succeeded counts even if a Logger blocks before the next one.
func TestRenewalCountsThoughTheLoggerBlocks(t *testing.T) {
	const blocked = 500 * time.Millisecond
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = funcr.New(func(_, line string) {
				if strings.Contains(line, "answers again") {
					time.Sleep(blocked)
				}
			}, funcr.Options{})
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		term := a.lastTerm()
		refused := false
		server.setFault(func(op string) memFault {
			if op == "refresh" && !refused {
				refused = true
				return memFault{err: errDown}
			}
			return memFault{}
		})
		time.Sleep(a.timing.deadline + time.Millisecond) // of the last renewal but one
		if err := term.Check(); err != nil {
			t.Errorf("the renewed term has ended: %v", err)
		}
		time.Sleep(3 * testLease)
		if a.lastTerm() != term || !a.IsLeader() {
			t.Errorf("the term has ended: %v", term.Check())
		}
		a.join()
	})
}

// OnStoppedLeading runs as well: it may be what exits the program.
func TestOnStoppedLeadingRunsThoughTheLoggerBlocks(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		unblock := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = funcr.New(func(_, line string) {
				if strings.Contains(line, "Term ended") {
					<-unblock
				}
			}, funcr.Options{})
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		a.stop()
		await(t, time.Second, "OnStoppedLeading", func() bool { return a.stops() == 1 })
		close(unblock)
		a.join()
	})
}

// A resource that never answers must not keep the others from leading.
func TestHangingFenceFloorGivesTheLockBack(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var log logLines
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = log.logger(0)
			cfg.FenceFloor = func(ctx context.Context) (int64, error) {
				<-ctx.Done()
				return 0, ctx.Err()
			}
		}).start(t)
		synctest.Wait()
		b := newReplica(t, server, "b", nil).start(t)
		await(t, testLease+time.Millisecond, "b leads", b.IsLeader)
		if len(a.recorded()) != 0 || len(log.with("Cannot get a usable fencing token")) != 1 {
			t.Errorf("events %q, log %q", a.recorded(), log.all())
		}
		a.join()
		b.join()
	})
}

// Trouble with the resource is not trouble with Redis. It too is logged once, however
// often it occurs.
func TestFenceFloorErrorsAreLoggedOnce(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		var log logLines
		var works atomic.Bool
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = log.logger(0)
			cfg.FenceFloor = func(context.Context) (int64, error) {
				if !works.Load() {
					return 0, errors.New("database is down")
				}
				return 0, nil
			}
		}).start(t)
		time.Sleep(20 * testLease)
		if lines := log.all(); len(lines) != 1 || len(log.with("database is down")) != 1 {
			t.Errorf("logged %q, want one line", lines)
		}
		works.Store(true)
		await(t, 10*testLease, "a leads", a.IsLeader)
		if len(log.with("usable again", "database is down:")) != 1 || len(log.with("Redis answers again")) != 0 {
			t.Errorf("logged %q", log.all())
		}
		a.join()
	})
}

// The new token came too late. The term never begins, and nobody hears of it.
func TestTermThatEndedWhileItsTokenWasRaisedNeverBegins(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		obtains := 0
		server.setFault(func(op string) memFault {
			if op == "obtain" {
				if obtains++; obtains == 2 { // for a higher token
					return memFault{after: testLease, ignoresContext: true}
				}
			}
			return memFault{}
		})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { return 41, nil }
		}).start(t)
		time.Sleep(testLease + time.Millisecond)
		synctest.Wait()
		if len(a.recorded()) != 0 || a.IsLeader() {
			t.Errorf("events %q", a.recorded())
		}
		a.join()
	})
}

// In an outage a leader steps down as it should. It is healthy even if its work takes
// long to stop.
func TestDrainingDuringAnOutageIsHealthy(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(3 * testLease) }
		}).start(t)
		await(t, 0, "a leads", a.IsLeader)
		server.setFault(func(string) memFault { return memFault{err: errDown} })
		for range 30 {
			time.Sleep(testLease / 10)
			if err := a.Check(100 * time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		server.setFault(nil)
		a.join()
	})
}

// A renewal was answered after the lease had run out, but Redis has extended the lock.
// It is released.
func TestLockOfAnExpiredTermIsReleasedDespiteALateSuccess(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.IsLeader)
		ctx := a.lastCtx()
		server.setFault(func(op string) memFault {
			if op == "refresh" {
				return memFault{after: 2 * testLease, ignoresContext: true}
			}
			return memFault{}
		})
		<-ctx.Done()
		a.stop()
		synctest.Wait()
		if a.holds() {
			t.Error("the lock was left to run out")
		}
		<-a.done
	})
}

// A FenceFloor that ignores its context ends Run like other callbacks that do not
// return.
func TestDeafFenceFloorEndsInADrainTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { <-finish; return 0, nil }
		}).start(t)
		begin := time.Now()
		<-a.done
		if took := time.Since(begin); !errors.Is(a.err, ErrDrainTimeout) || took != testLease+a.cfg.DrainTimeout {
			t.Errorf("Run = %v after %v", a.err, took)
		}
		close(finish)
	})
}
