package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// contest is one holder and several waiters that compete in one election.
type contest struct {
	election *election
	replicas []replica
	outcomes chan outcome
	ctx      context.Context // of everything that competes
	cancel   context.CancelFunc
	calls    sync.WaitGroup // of compete
}

// outcome is how one call of compete ended.
type outcome struct {
	who int
	at  time.Time
	err error
}

var errNobody = errors.New("nobody obtained the lock")

// slack is how much longer a contest waits for an outcome than its timings explain.
const slack = 5 * time.Second

// newContest makes the replicas and lets the first of them obtain the lock.
func newContest(ctx context.Context, c contender, e *election, waiters int) (*contest, error) {
	ct := emptyContest(ctx, e, waiters+1)
	for i := range waiters + 1 {
		r, err := c.newReplica(e, fmt.Sprintf("replica-%d", i))
		if err != nil {
			ct.close()
			return nil, fmt.Errorf("new replica: %w", err)
		}
		ct.replicas = append(ct.replicas, r)
	}
	ct.start(0)
	if _, err := ct.next(e.timings.lease); err != nil {
		ct.close()
		return nil, fmt.Errorf("the first replica: %w", err)
	}
	return ct, nil
}

// emptyContest returns a contest with room for so many replicas.
func emptyContest(ctx context.Context, e *election, replicas int) *contest {
	ct := &contest{election: e, outcomes: make(chan outcome, replicas)}
	ct.ctx, ct.cancel = context.WithCancel(ctx)
	return ct
}

// start lets one replica compete.
func (ct *contest) start(i int) {
	ct.calls.Go(func() {
		at, err := ct.replicas[i].compete(ct.ctx)
		ct.outcomes <- outcome{i, at, err}
	})
}

// startOthers lets all others compete. They start at different points of a retry period,
// so that those that poll do not poll at the same time.
func (ct *contest) startOthers() error {
	step := ct.election.timings.retry / time.Duration(len(ct.replicas))
	for i := 1; i < len(ct.replicas); i++ {
		ct.start(i)
		if !pause(ct.ctx, step/2+rand.N(step)) {
			return ct.ctx.Err()
		}
	}
	return nil
}

// next waits for the next outcome, which should come within the given time.
func (ct *contest) next(within time.Duration) (outcome, error) {
	timeout := time.NewTimer(within + slack)
	defer timeout.Stop()
	select {
	case o := <-ct.outcomes:
		return o, o.err
	case <-timeout.C:
		return outcome{}, errNobody
	}
}

// close ends the contest and closes all replicas.
func (ct *contest) close() {
	ct.cancel()
	ct.calls.Wait() // the channel has room for all outcomes
	var group sync.WaitGroup
	for _, r := range ct.replicas {
		group.Go(r.close)
	}
	group.Wait()
}
