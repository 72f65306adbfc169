package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A machine is suspended: its monotonic clock, and with it all timers, stand still.
// More tests of this are in elector_test.go, term_test.go and loop_test.go.

// The first look may be at the cause. It is the reason, and not merely
// context.Canceled.
func TestFirstLookAtTheCauseAfterASuspend(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		derived, cancel := context.WithCancel(a.lastCtx())
		defer cancel()
		a.suspend(a.timing.deadline)
		if cause := context.Cause(a.lastCtx()); !errors.Is(cause, ErrExpired) {
			t.Errorf("cause = %v, want %v", cause, ErrExpired)
		}
		if synctest.Wait(); !errors.Is(context.Cause(derived), ErrExpired) {
			t.Errorf("cause of a derived context = %v, want %v", context.Cause(derived), ErrExpired)
		}
		a.join()
	})
}

// The first thing that work does after a suspend may be to derive a context, with a
// timeout for its next step. That context has ended as well.
func TestContextDerivedAfterASuspendHasEnded(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		a.suspend(a.timing.deadline)
		derived, cancel := context.WithTimeout(a.lastCtx(), time.Second)
		defer cancel()
		if err, cause := derived.Err(), context.Cause(derived); err == nil || !errors.Is(cause, ErrExpired) {
			t.Errorf("Err = %v, cause = %v, want it to have ended with %v", err, cause, ErrExpired)
		}
		a.join()
	})
}

// A suspend that is shorter than what remains of the term takes its time from the term,
// until the next renewal.
func TestTermOutlivesAShortSuspend(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		term := a.lastTerm()
		short := a.timing.deadline / 4
		a.suspend(short)
		if left := term.Remaining(); left != a.timing.deadline-short {
			t.Errorf("Remaining = %v after a suspend of %v, want %v", left, short, a.timing.deadline-short)
		}
		time.Sleep(a.timing.renew)
		synctest.Wait()
		if left := term.Remaining(); left != a.timing.deadline {
			t.Errorf("Remaining = %v after a renewal, want %v", left, a.timing.deadline)
		}
		time.Sleep(2 * testLease)
		if !a.IsLeader() || a.lastTerm() != term {
			t.Errorf("the term has ended: %v", term.Check())
		}
		a.join()
	})
}

// After a suspend that is longer than the lease it saw, a follower no longer knows who
// leads.
func TestFollowerForgetsTheLeaderInASuspend(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		b := newReplica(t, server, "b", nil).start(t)
		await(t, 0, "b follows", func() bool { return b.GetLeader() == "a" })
		b.suspend(testLease)
		if leader, ok := b.Leader(); ok {
			t.Errorf("b says that %q leads", leader.Identity)
		}
		await(t, testLease, "b has looked again", func() bool { return b.GetLeader() == "a" })
		b.join()
		a.join()
	})
}

// A candidate is suspended while it obtains the lock. The lock is of no use any more:
// the candidate releases it and reports that the attempt has failed.
func TestLateAcquisitionIsGivenBack(t *testing.T) {
	const answer = 100 * time.Millisecond // less than an attempt may take
	bubble(t, func(t *testing.T, server *memServer) {
		var seen *attemptCounter
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) {
			seen = newAttemptCounter(r)
			cfg.Observer = seen
		})
		server.setFault(func(string) memFault { return memFault{after: answer} })
		a.start(t)
		time.Sleep(answer / 2)
		if !a.holds() {
			t.Fatal("the lock is not obtained")
		}
		a.suspend(a.timing.deadline)
		time.Sleep(2 * answer)
		synctest.Wait()
		if a.holds() || seen.acquires(AcquireFailed) != 1 || seen.acquires(AcquireWon) != 0 || a.starts() != 0 {
			t.Errorf("holds = %t, %d attempts failed and %d won, %d starts: want one that failed, and its lock released",
				a.holds(), seen.acquires(AcquireFailed), seen.acquires(AcquireWon), a.starts())
		}
		await(t, testLease, "a leads in the end", a.atWork)
		server.setFault(nil)
		a.join()
	})
}
