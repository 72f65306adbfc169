package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// contest is one holder and several waiters that compete for one name.
type contest struct {
	arena    *arena
	replicas []replica
	arrivals chan arrival
	ctx      context.Context // of everything that competes
	cancel   context.CancelFunc
	under    sync.WaitGroup // calls of compete
}

// arrival is what became of one call of compete.
type arrival struct {
	who int
	at  time.Time
	err error
}

var errNobody = errors.New("nobody obtained the lock")

// patience is how long a contest waits for an arrival that should come, beyond what its
// timings explain.
const patience = 5 * time.Second

// newContest enlists the replicas and lets the first of them obtain the lock.
func newContest(ctx context.Context, c contender, a *arena, waiters int) (*contest, error) {
	ct := emptyContest(ctx, a, waiters+1)
	for i := range waiters + 1 {
		r, err := c.enlist(a, fmt.Sprintf("replica-%d", i))
		if err != nil {
			ct.close()
			return nil, fmt.Errorf("enlist: %w", err)
		}
		ct.replicas = append(ct.replicas, r)
	}
	ct.enter(0)
	if _, err := ct.arrival(a.timings.lease); err != nil {
		ct.close()
		return nil, fmt.Errorf("the first to compete: %w", err)
	}
	return ct, nil
}

// emptyContest has room for so many replicas.
func emptyContest(ctx context.Context, a *arena, replicas int) *contest {
	ct := &contest{arena: a, arrivals: make(chan arrival, replicas)}
	ct.ctx, ct.cancel = context.WithCancel(ctx)
	return ct
}

// enter lets one replica compete.
func (ct *contest) enter(i int) {
	ct.under.Go(func() {
		at, err := ct.replicas[i].compete(ct.ctx)
		ct.arrivals <- arrival{i, at, err}
	})
}

// enterAll lets all others compete, spread over a retry period, so that those that poll
// do not poll together.
func (ct *contest) enterAll() error {
	step := ct.arena.timings.retry / time.Duration(len(ct.replicas))
	for i := 1; i < len(ct.replicas); i++ {
		ct.enter(i)
		if !pause(ct.ctx, step/2+rand.N(step)) {
			return ct.ctx.Err()
		}
	}
	return nil
}

// arrival is the next, which should come within a time.
func (ct *contest) arrival(within time.Duration) (arrival, error) {
	timeout := time.NewTimer(within + patience)
	defer timeout.Stop()
	select {
	case a := <-ct.arrivals:
		return a, a.err
	case <-timeout.C:
		return arrival{}, errNobody
	}
}

// close ends competing and frees all replicas.
func (ct *contest) close() {
	ct.cancel()
	ct.under.Wait() // the channel has room for all
	var group sync.WaitGroup
	for _, r := range ct.replicas {
		group.Go(r.close)
	}
	group.Wait()
}
