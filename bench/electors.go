package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis/rueidislock"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/klog/v2"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// electors are many electors in one process that share whatever can be shared. Two
// compete for each name, so half of them lead.
type electors struct {
	build builder
	close func()

	leading  atomic.Int64
	terms    atomic.Int64 // that have begun
	failures chan error
	running  sync.WaitGroup
	cancel   context.CancelFunc
}

// builder makes one elector. The elector competes and leads while run runs, until the
// ctx of run ends. Its work is to call lead.
type builder func(name, id string, lead func(context.Context)) (run electorFunc, err error)

// electorFunc runs one elector until ctx ends.
type electorFunc func(ctx context.Context) error

// lead is the work of each elector.
func (es *electors) lead(ctx context.Context) {
	es.leading.Add(1)
	es.terms.Add(1)
	<-ctx.Done()
	es.leading.Add(-1)
}

// start starts so many electors as fast as it can.
func (es *electors) start(ctx context.Context, prefix string, count int) error {
	ctx, es.cancel = context.WithCancel(ctx)
	es.failures = make(chan error, count)
	for i := range count {
		run, err := es.build(fmt.Sprintf("%s-%d", prefix, i/2), fmt.Sprint(i%2), es.lead)
		if err != nil {
			return err
		}
		es.running.Add(1)
		// Without a closure, so that the stack is no larger than the elector needs.
		go es.run(ctx, run) // joined by stop
	}
	return nil
}

func (es *electors) run(ctx context.Context, run electorFunc) {
	defer es.running.Done()
	if err := run(ctx); err != nil {
		es.failures <- err
	}
}

// await waits until so many electors lead.
func (es *electors) await(ctx context.Context, leaders int) error {
	const within = 30 * time.Second
	for end := time.Now().Add(within); es.leading.Load() != int64(leaders); {
		select {
		case err := <-es.failures:
			return err
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d lead after %v", es.leading.Load(), leaders, within)
		}
		if !pause(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// stop ends all electors.
func (es *electors) stop() {
	es.cancel()
	es.running.Wait()
	es.close()
}

// redisleaderElectors are electors of package leader that share one client.
func redisleaderElectors(addr string, t timings) (*electors, error) {
	client := redis.NewClient(clientOptions(addr))
	locker := redislock.New(client)
	build := func(name, id string, lead func(context.Context)) (electorFunc, error) {
		elector, err := leader.New(locker, electorConfig(name, t, id, lead))
		if err != nil {
			return nil, err
		}
		return elector.Run, nil
	}
	return &electors{build: build, close: func() { _ = client.Close() }}, nil
}

// rueidisElectors are locks of one locker. Each has a goroutine that waits for the lock
// and then works.
func rueidisElectors(addr string, t timings) (*electors, error) {
	locker, err := newRueidisLocker(addr, t.lease, &dialer{})
	if err != nil {
		return nil, err
	}
	build := func(name, _ string, lead func(context.Context)) (electorFunc, error) {
		return func(ctx context.Context) error { return leadAgain(ctx, locker, name, lead) }, nil
	}
	return &electors{build: build, close: locker.Close}, nil
}

// leadAgain leads each time it holds the lock.
func leadAgain(
	ctx context.Context, locker rueidislock.Locker, name string, lead func(context.Context),
) error {
	for ctx.Err() == nil {
		held, release, err := locker.WithContext(ctx, name)
		if err != nil {
			break // ctx has ended; nothing else ends the wait
		}
		lead(held)
		release()
	}
	return nil
}

// clientGoElectors are electors of client-go on one clientset.
func clientGoElectors(_ string, t timings) (*electors, error) {
	cluster := newCluster()
	build := func(name, id string, lead func(context.Context)) (electorFunc, error) {
		e := &election{name: name, timings: t, cluster: cluster}
		elector, err := leaderelection.NewLeaderElector(clientGoConfig(e, newLeaseLock(e, id), lead))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			elector.Run(klog.NewContext(ctx, logr.Discard()))
			return nil
		}, nil
	}
	return &electors{build: build, close: cluster.clients.ClearActions}, nil
}
