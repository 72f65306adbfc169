package leader

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A process is frozen while a refresh is under way and wakes up after the deadline. The
// answer, which would have been good for another while, is the first thing anybody
// looks at.
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

// A12: the counter is lost, and there is no server clock to make up for it: what a
// candidate has seen, be it in its own terms or in another's, is a floor for its
// tokens.
func TestTokensRiseAboveAllThatWereSeen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		lose := func() {
			server.mu.Lock()
			defer server.mu.Unlock()
			server.fence = 0
			clear(server.entries)
		}
		server.mute = true // b is not to hear that a has released the lock, before all is lost
		server.fence = 10
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		first := a.lastTerm()
		lose()
		await(t, testLease, "a leads again", func() bool { return a.atWork() && a.lastTerm() != first })
		b := newReplica(t, server, "b", nil).start(t)
		await(t, testLease, "b follows", func() bool { return b.GetLeader() == "a" })
		if a.join(); b.starts() != 0 {
			t.Fatal("b leads already")
		}
		lose()
		await(t, testLease, "b leads", b.atWork)
		if x, y, z := first.FenceToken(), a.lastTerm().FenceToken(), b.lastTerm().FenceToken(); x != 11 || y <= x || z <= y {
			t.Errorf("fencing tokens %d, %d, %d", x, y, z)
		}
	})
}
