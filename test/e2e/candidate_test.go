//go:build unix

package e2e

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/go-logr/logr/funcr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// How a candidate process exits.
const (
	exitDone   = 0
	exitFailed = 1 // it could not start, or Run returned an error
	exitNoTest = 3 // the test that it belongs to is gone
)

// Commands to a candidate. Each is a line on its standard input.
const (
	commandResign  = "resign"
	commandMeasure = "measure"
)

// electionName is leader.Config.Name of all candidates, unless a test sets another.
// Only candidates with the same key prefix compete with each other.
const electionName = "e2e"

// candidate is a process that competes. SIGTERM ends it gracefully. When its standard
// input ends, the test is gone and the process exits at once.
type candidate struct {
	settings
	reporter *reporter
	redis    redis.UniversalClient
	resource resource
	electors []*leader.Elector
	workers  []*worker
}

// runCandidate is the main function of a candidate process. It returns the exit status.
func runCandidate() int {
	s, err := readSettings()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	c := &candidate{
		settings: s,
		reporter: newReporter(),
		redis:    s.client(),
		resource: resource{redis.NewClient(&redis.Options{Addr: s.Resource})},
	}
	if err := c.addElectors(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	go c.obey() // ends with the process
	return c.run()
}

// addElectors makes the electors, all on one client.
func (c *candidate) addElectors() error {
	locker := redislock.New(c.redis)
	for i := range max(1, c.Electors) {
		w := &worker{observer: newObserver(c.reporter, i), settings: c.settings, resource: c.resource}
		e, err := leader.New(locker, c.config(w))
		if err != nil {
			return err
		}
		c.electors, c.workers = append(c.electors, e), append(c.workers, w)
	}
	return nil
}

func (c *candidate) config(w *worker) leader.Config {
	return leader.Config{
		Name:          cmp.Or(c.Name, electionName),
		KeyPrefix:     c.Prefix,
		Identity:      c.Identity + w.name,
		LeaseDuration: c.Lease,
		Observer:      w.observer,
		Logger:        funcr.New(func(_, line string) { w.report(event{Kind: logged, Detail: line}) }, funcr.Options{}),
		Callbacks: leader.Callbacks{
			OnStartedLeading: w.lead,
			OnStoppedLeading: func() { w.report(event{Kind: stopped}) },
			OnNewLeader:      func(identity string) { w.report(event{Kind: newLeader, Detail: identity}) },
		},
	}
}

// run competes until SIGTERM and returns the exit status.
func (c *candidate) run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	var failed atomic.Bool
	var running sync.WaitGroup
	for i, e := range c.electors {
		running.Go(func() {
			err := e.Run(ctx)
			c.workers[i].report(event{Kind: finished, Detail: fmt.Sprint(err)})
			if err != nil {
				failed.Store(true)
			}
		})
	}
	running.Wait()
	for _, w := range c.workers {
		w.queues.Wait()
	}
	if failed.Load() {
		return exitFailed
	}
	return exitDone
}

// obey carries out commands until the test is gone.
func (c *candidate) obey() {
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch commands.Text() {
		case commandResign:
			err := c.electors[0].Resign(context.Background())
			c.reporter.send(event{Kind: resigned, Detail: fmt.Sprint(err)})
		case commandMeasure:
			u := usage{Goroutines: runtime.NumGoroutine(), Connections: int(c.redis.PoolStats().TotalConns)}
			c.reporter.send(event{Kind: measured, Usage: u})
		}
	}
	os.Exit(exitNoTest)
}
