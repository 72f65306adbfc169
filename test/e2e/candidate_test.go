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

// Commands to a candidate, each on a line of its own on its standard input.
const (
	commandResign = "resign"
	commandCount  = "count"
)

// electionName is leader.Config.Name of all candidates, unless a test gives another.
// They meet only if their prefix is the same too.
const electionName = "e2e"

// candidate is a process that competes. SIGTERM ends it in good order; the end of its
// standard input means that the test is gone, and ends it at once.
type candidate struct {
	settings
	*reporter
	redis    redis.UniversalClient
	resource resource
	electors []*leader.Elector
	workers  []*worker
}

// candidateMain is the main function of a candidate process.
func candidateMain() int {
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
	if err := c.enter(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	go c.obey() // ends with the process
	return c.run()
}

// enter makes the electors, all on one client.
func (c *candidate) enter() error {
	locker := redislock.New(c.redis)
	for i := range max(1, c.Electors) {
		w := &worker{voice: newVoice(c.reporter, i), settings: c.settings, resource: c.resource}
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
		Observer:      w.voice,
		Logger:        funcr.New(func(_, line string) { w.say(event{Kind: logged, Detail: line}) }, funcr.Options{}),
		Callbacks: leader.Callbacks{
			OnStartedLeading: w.lead,
			OnStoppedLeading: func() { w.say(event{Kind: stopped}) },
			OnNewLeader:      func(identity string) { w.say(event{Kind: newLeader, Detail: identity}) },
		},
	}
}

// run competes until SIGTERM.
func (c *candidate) run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	code := exitDone
	var mu sync.Mutex // guards code
	var all sync.WaitGroup
	for i, e := range c.electors {
		all.Go(func() {
			err := e.Run(ctx)
			c.workers[i].say(event{Kind: finished, Detail: fmt.Sprint(err)})
			if err != nil {
				mu.Lock()
				defer mu.Unlock()
				code = exitFailed
			}
		})
	}
	all.Wait()
	for _, w := range c.workers {
		w.queues.Wait()
	}
	return code
}

// obey carries out commands until the test is gone.
func (c *candidate) obey() {
	commands := bufio.NewScanner(os.Stdin)
	for commands.Scan() {
		switch commands.Text() {
		case commandResign:
			err := c.electors[0].Resign(context.Background())
			c.report(event{Kind: resigned, Detail: fmt.Sprint(err)})
		case commandCount:
			n := counts{Goroutines: runtime.NumGoroutine(), Connections: int(c.redis.PoolStats().TotalConns)}
			c.report(event{Kind: counted, Count: n})
		}
	}
	os.Exit(exitNoTest)
}
