package leader

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"
)

// want checks what Status says, but for the times, which it returns for a closer look.
func (r *replica) want(t *testing.T, when string, state State, leader Leader) Status {
	t.Helper()
	s := r.Status()
	if s.Name != "test" || s.Identity != r.cfg.Identity || s.State != state || !reflect.DeepEqual(s.Leader, leader) {
		t.Errorf("%s: %q %q %s, leader %+v; want %s, leader %+v", when, s.Name, s.Identity, s.State, s.Leader, state, leader)
	}
	if !s.At.Equal(time.Now()) {
		t.Errorf("%s: At = %v, want %v", when, s.At, time.Now())
	}
	return s
}

func TestStatusInEachState(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		zone := map[string]string{"zone": "z1"}
		server.fence = time.Now().UnixMicro() - 1 // as the server's clock would mint them
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Metadata = zone
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(testLease) }
		})
		b := newReplica(t, server, "b", nil)
		nobody := Leader{}

		s := a.want(t, "before Run", StateStopped, nobody)
		if s.LeaseRemaining != 0 || s.LeaseTotal != 0 || !s.LeaderSince.IsZero() || s.Overdue != 0 || len(s.LastTerms) != 0 {
			t.Errorf("before Run: %+v", s)
		}

		begin := time.Now()
		a.start(t)
		await(t, 0, "a leads", a.atWork)
		self := Leader{"a", a.lastTerm().FenceToken(), zone}
		time.Sleep(time.Millisecond)
		s = a.want(t, "a leads", StateLeading, self)
		if s.LeaseRemaining != a.timing.deadline-time.Millisecond || s.LeaseTotal != a.timing.deadline || !s.LeaderSince.Equal(begin) || len(s.LastTerms) != 0 {
			t.Errorf("a leads: %+v", s)
		}

		b.start(t)
		synctest.Wait()
		looked := time.Now()
		time.Sleep(10 * time.Millisecond)
		s = b.want(t, "b follows", StateCandidate, self)
		if age := time.Since(looked); s.LeaseRemaining != testLease-time.Millisecond-age || s.LeaseTotal != testLease || !s.LeaderSince.Equal(begin) {
			t.Errorf("b follows, and looked %v ago: %+v", age, s)
		}

		a.stop()
		synctest.Wait()
		lasted := time.Since(begin)
		s = a.want(t, "a drains", StateDraining, nobody)
		want := []PastTerm{{self.FenceToken, begin, lasted, EndedStopped}}
		if s.LeaseRemaining != 0 || !reflect.DeepEqual(s.LastTerms, want) || s.Overdue != 0 {
			t.Errorf("a drains: %+v, want past terms %+v", s, want)
		}
		b.join()
		b.want(t, "after b's Run", StateStopped, self) // a still holds the lock
		<-a.done
		a.want(t, "after Run", StateStopped, nobody)
		time.Sleep(testLease)
		b.want(t, "long after b's Run", StateStopped, nobody)
	})
}

// Without Redis a candidate knows nobody; a leader is one until its deadline.
func TestStatusInAnOutage(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		down := func(string) memFault { return memFault{err: errDown} }
		server.setFault(down)
		a := newReplica(t, server, "a", nil).start(t)
		time.Sleep(testLease)
		a.want(t, "without Redis", StateCandidate, Leader{})
		server.setFault(nil)
		await(t, testLease, "a leads", a.atWork)
		self := Leader{Identity: "a", FenceToken: a.lastTerm().FenceToken()}
		b := newReplica(t, server, "b", nil).start(t)
		synctest.Wait()
		server.setFault(down)
		time.Sleep(a.timing.deadline - time.Millisecond)
		a.want(t, "before the deadline", StateLeading, self)
		b.want(t, "before the deadline", StateCandidate, self)
		time.Sleep(testLease - a.timing.deadline)
		synctest.Wait()
		a.want(t, "after the deadline", StateCandidate, Leader{})
		s := b.want(t, "just before the lease runs out", StateCandidate, self)
		if s.LeaseRemaining <= 0 || s.LeaseRemaining > time.Millisecond {
			t.Errorf("%v of the lease remain, want up to 1ms", s.LeaseRemaining)
		}
		time.Sleep(time.Millisecond)
		if s = b.want(t, "after the lease", StateCandidate, Leader{}); s.LeaseRemaining != 0 || !s.LeaderSince.IsZero() {
			t.Errorf("after the lease: %+v", s)
		}
	})
}

// A process that was frozen past its deadline says so at its first look.
func TestStatusAfterAFreeze(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		await(t, 0, "a leads", a.atWork)
		a.suspend(a.timing.deadline + time.Second)
		s := a.want(t, "after the freeze", StateDraining, Leader{})
		if s.LeaseRemaining != 0 || s.Overdue != time.Second {
			t.Errorf("after the freeze: %+v, want to be overdue for 1s", s)
		}
		await(t, 2*testLease, "a leads again", a.atWork)
		if s := a.Status(); s.Overdue != 0 || len(s.LastTerms) != 1 || s.LastTerms[0].Reason != EndedExpired {
			t.Errorf("later: %+v", s)
		}
	})
}

// The goroutine of Run is stuck in an Observer. The term ends all the same, but the
// candidate does not step down.
func TestStatusOfAnElectorThatHangs(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		release := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Observer = wedgedObserver{wedged: func() { <-release }}
		}).start(t)
		synctest.Wait()
		a.want(t, "at first", StateLeading, Leader{Identity: "a", FenceToken: 1})
		time.Sleep(a.timing.deadline + time.Second)
		if s := a.want(t, "after the deadline", StateDraining, Leader{}); s.Overdue != time.Second {
			t.Errorf("overdue for %v, want 1s", s.Overdue)
		}
		close(release)
		a.join()
		if s := a.want(t, "in the end", StateStopped, Leader{}); s.Overdue != 0 {
			t.Errorf("overdue for %v", s.Overdue)
		}
	})
}

// The lock of somebody who has lost its time to live stays.
func TestStatusOfALockWithoutTimeToLive(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	env.do("HSET", env.key, "token", "theirs", "metadata", "them", "fence", 7)
	a := env.start(env.behind("a", nil))
	env.await("a follows", func() bool { return a.GetLeader() == "them" })
	s := a.Status()
	if s.State != StateCandidate || s.LeaseRemaining >= 0 || s.LeaseTotal != testLease || s.Leader.FenceToken != 7 || !s.LeaderSince.IsZero() {
		t.Errorf("%+v", s)
	}
}

func TestLastTermsAreTheLatestTen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(_ context.Context, term Term) { time.Sleep(time.Second); term.Fail(nil) }
		}).start(t)
		await(t, time.Hour, "some terms", func() bool { return a.stops() == maxHistory+3 })
		a.join()
		last := a.Status().LastTerms
		if len(last) != 10 {
			t.Fatalf("%d terms, want 10", len(last))
		}
		for i, past := range last {
			if want := int64(maxHistory + 3 - i); past.FenceToken != want || past.Reason != EndedFailed || past.Lasted != time.Second {
				t.Errorf("term %d is %+v, want fencing token %d", i, past, want)
			}
		}
		last[0].Reason = "changed by its owner"
		if again := a.Status().LastTerms[0]; again.Reason != EndedFailed {
			t.Errorf("a snapshot that was changed changed the next: %+v", again)
		}
	})
}

// A fencing token is a time, unless the counter or a floor was ahead of the clock.
func TestTimeOfAFencingToken(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		fence int64
		want  time.Time
	}{
		{now.UnixMicro(), now},
		{now.Add(-time.Hour).UnixMicro() + 1, now.Add(-time.Hour + time.Microsecond)},
		// Two machines' clocks differ.
		{now.Add(30 * time.Second).UnixMicro(), now.Add(30 * time.Second)},
		{now.Add(2 * time.Minute).UnixMicro(), time.Time{}},
		{0, time.Time{}},
		{7, time.Time{}},
		{1 << 52, time.Time{}},
	} {
		if got := mintedAt(c.fence, now); !got.Equal(c.want) {
			t.Errorf("mintedAt(%d) = %v, want %v", c.fence, got, c.want)
		}
	}
}
