package main

import (
	"context"
	"fmt"
	"runtime"
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

// crowd is many electors in one process that share what can be shared. Two compete for
// each name, so that half of them lead.
type crowd struct {
	build builder
	close func()

	leading  atomic.Int64
	terms    atomic.Int64 // that have begun
	failures chan error
	running  sync.WaitGroup
	cancel   context.CancelFunc
}

// builder makes one elector, which competes and leads while run runs, until its ctx
// ends. Its work is to call lead.
type builder func(name, id string, lead func(context.Context)) (run func(context.Context) error, err error)

// lead is the work of each elector.
func (c *crowd) lead(ctx context.Context) {
	c.leading.Add(1)
	c.terms.Add(1)
	<-ctx.Done()
	c.leading.Add(-1)
}

// start starts so many electors, as fast as it can. Their goroutines have nothing on
// their stacks but what they need.
func (c *crowd) start(ctx context.Context, prefix string, electors int) error {
	ctx, c.cancel = context.WithCancel(ctx)
	c.failures = make(chan error, electors)
	for i := range electors {
		run, err := c.build(fmt.Sprintf("%s-%d", prefix, i/2), fmt.Sprint(i%2), c.lead)
		if err != nil {
			return err
		}
		c.running.Add(1)
		go c.run(ctx, run) // joined by stop
	}
	return nil
}

func (c *crowd) run(ctx context.Context, run func(context.Context) error) {
	defer c.running.Done()
	if err := run(ctx); err != nil {
		c.failures <- err
	}
}

// await waits until so many lead.
func (c *crowd) await(ctx context.Context, leaders int) error {
	const within = 30 * time.Second
	for end := time.Now().Add(within); c.leading.Load() != int64(leaders); {
		select {
		case err := <-c.failures:
			return err
		default:
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d of %d lead after %v", c.leading.Load(), leaders, within)
		}
		if !pause(ctx, 10*time.Millisecond) {
			return ctx.Err()
		}
	}
	return nil
}

// stop ends all electors.
func (c *crowd) stop() {
	c.cancel()
	c.running.Wait()
	c.close()
}

// electorCrowd is electors of package leader that share one client.
func electorCrowd(addr string, t timings) (*crowd, error) {
	client := redis.NewClient(clientOptions(addr))
	locker := redislock.New(client)
	build := func(name, id string, lead func(context.Context)) (func(context.Context) error, error) {
		e, err := leader.New(locker, electorConfig(&arena{name: name, timings: t}, id, lead))
		if err != nil {
			return nil, err
		}
		return e.Run, nil
	}
	return &crowd{build: build, close: func() { _ = client.Close() }}, nil
}

// rueidisCrowd is locks of one locker, each with the goroutine that waits for it and
// then works.
func rueidisCrowd(addr string, t timings) (*crowd, error) {
	locker, err := newRueidisLocker(addr, t.lease, &line{})
	if err != nil {
		return nil, err
	}
	build := func(name, _ string, lead func(context.Context)) (func(context.Context) error, error) {
		return func(ctx context.Context) error { return leadAgain(ctx, locker, name, lead) }, nil
	}
	return &crowd{build: build, close: locker.Close}, nil
}

// leadAgain leads whenever it holds the lock.
func leadAgain(ctx context.Context, locker rueidislock.Locker, name string, lead func(context.Context)) error {
	for ctx.Err() == nil {
		held, release, err := locker.WithContext(ctx, name)
		if err != nil {
			break // ctx has ended: nothing else ends the waiting
		}
		lead(held)
		release()
	}
	return nil
}

// clientGoCrowd is electors of client-go on one clientset.
func clientGoCrowd(_ string, t timings) (*crowd, error) {
	cluster := newCluster()
	build := func(name, id string, lead func(context.Context)) (func(context.Context) error, error) {
		a := &arena{name: name, timings: t, cluster: cluster}
		e, err := leaderelection.NewLeaderElector(clientGoConfig(a, newLeaseLock(a, id), lead))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context) error {
			e.Run(klog.NewContext(ctx, logr.Discard()))
			return nil
		}, nil
	}
	return &crowd{build: build, close: cluster.clients.ClearActions}, nil
}

// footprint is what this process holds.
type footprint struct {
	heap, stack float64 // bytes
	goroutines  float64
}

// takeStock looks at the process after some collections, of which a process that goes
// on for long has as many: each halves stacks that are mostly empty, and the second
// frees what sync.Pools held.
func takeStock() footprint {
	for range 4 {
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return footprint{float64(m.HeapAlloc), float64(m.StackInuse), float64(runtime.NumGoroutine())}
}

// per is the growth since an earlier look, by elector.
func (f footprint) per(electors int, before footprint) footprint {
	n := float64(electors)
	return footprint{(f.heap - before.heap) / n, (f.stack - before.stack) / n, (f.goroutines - before.goroutines) / n}
}
