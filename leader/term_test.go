package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A process is frozen while a refresh is under way, and wakes up after the deadline.
// The first thing it looks at is the answer, which is a success.
func TestLateSuccessDoesNotCountThoughNobodyLooked(t *testing.T) {
	const answer = 90 * time.Millisecond // less than an attempt may take
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		ctx := a.lastCtx()
		server.setFault(func(string) memFault { return memFault{after: answer} })
		a.suspend(a.timing.deadline / 2)
		time.Sleep(a.timing.renew + answer/2) // the refresh is under way
		a.suspend(a.timing.deadline / 2)
		time.Sleep(answer)
		synctest.Wait()
		if cause := context.Cause(ctx); !errors.Is(cause, ErrExpired) || a.stops() != 1 {
			t.Errorf("cause = %v, %d stops", cause, a.stops())
		}
	})
}

func TestZeroTermHasEnded(t *testing.T) {
	var term Term
	if term.Check() == nil || term.Remaining() != 0 || term.FenceToken() != 0 || term.Name()+term.Identity() != "" || !term.StartedAt().IsZero() {
		t.Errorf("%v %v %d", term.Check(), term.Remaining(), term.FenceToken())
	}
}

// A12: the counter is lost, and there is no server clock to make up for it. The tokens
// that a candidate has seen, in its own terms or another's, are a floor for its next
// one.
func TestTokensRiseAboveAllThatWereSeen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.unannounced = true // b must not hear of the release before the counter is lost
		server.fence = 10
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		first := a.lastTerm()
		server.loseCounter()
		await(t, testLease, "a leads again", func() bool { return a.atWork() && a.lastTerm() != first })
		b := newReplica(t, server, "b", nil).start(t)
		await(t, testLease, "b follows", func() bool { return b.GetLeader() == "a" })
		if a.join(); b.starts() != 0 {
			t.Fatal("b leads already")
		}
		server.loseCounter()
		await(t, testLease, "b leads", b.atWork)
		if x, y, z := first.FenceToken(), a.lastTerm().FenceToken(), b.lastTerm().FenceToken(); x != 11 || y <= x || z <= y {
			t.Errorf("fencing tokens %d, %d, %d", x, y, z)
		}
	})
}
