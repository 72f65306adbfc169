package leader_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// A service that works on one replica at a time. Run returns when ctx has ended and the
// work has stopped. In a program ctx comes from signal.NotifyContext.
func ExampleRun() {
	client, stop := startRedis() // in a program: redis.NewClient
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	err := leader.Run(ctx, redislock.New(client), leader.Config{
		Name:     "report-scheduler",
		Identity: "replica-1",
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(ctx context.Context, term leader.Term) {
				fmt.Println(term.Identity(), "leads", term.Name())
				err := leader.Every(ctx, time.Minute, func(context.Context) error {
					fmt.Println("working")
					cancel() // the program is told to stop
					return nil
				})
				fmt.Println("work stopped:", err)
			},
			OnStoppedLeading: func() { fmt.Println("no longer leader") },
		},
	})
	fmt.Println("error:", err)

	// Output:
	// replica-1 leads report-scheduler
	// working
	// work stopped: context canceled
	// no longer leader
	// error: <nil>
}

// Two replicas, one of which takes over when the other is stopped.
func ExampleElector() {
	client, stop := startRedis()
	defer stop()

	locker := redislock.New(client)
	replica := func(identity string) (e *leader.Elector, leads chan struct{}) {
		leads = make(chan struct{}, 1)
		e, err := leader.New(locker, leader.Config{
			Name:          "report-scheduler",
			Identity:      identity,
			LeaseDuration: 3 * time.Second,
			Callbacks: leader.Callbacks{
				OnStartedLeading: func(ctx context.Context, _ leader.Term) { leads <- struct{}{}; <-ctx.Done() },
			},
		})
		if err != nil {
			panic(err)
		}
		return e, leads
	}
	run := func(e *leader.Elector) (stop func() error) {
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan error)
		go func() { ended <- e.Run(ctx) }()
		return func() error { cancel(); return <-ended }
	}

	first, firstLeads := replica("first")
	stopFirst := run(first)
	<-firstLeads
	second, secondLeads := replica("second")
	stopSecond := run(second)
	fmt.Println("first leads:", first.IsLeader(), "second leads:", second.IsLeader())

	fmt.Println("first ended with:", stopFirst())
	<-secondLeads
	fmt.Println("first leads:", first.IsLeader(), "second leads:", second.IsLeader())
	fmt.Println("leader:", second.GetLeader())
	fmt.Println("second ended with:", stopSecond())

	// Output:
	// first leads: true second leads: false
	// first ended with: <nil>
	// first leads: false second leads: true
	// leader: second
	// second ended with: <nil>
}

// errStale is what the account answers to a leader whose term is over.
var errStale = errors.New("stale fencing token")

// guardedSet writes to a resource that rejects fencing tokens lower than the highest it
// has seen. Check and write are one step.
var guardedSet = redis.NewScript(`
	if tonumber(ARGV[1]) < tonumber(redis.call('HGET', KEYS[1], 'fence') or '0') then
		return 0
	end
	redis.call('HSET', KEYS[1], 'fence', ARGV[1], 'balance', ARGV[2])
	return 1`)

// Each write carries the fencing token of the term it was made in. The resource rejects
// those of earlier terms, however late they come.
func ExampleTerm() {
	client, stop := startRedis()
	defer stop()

	write := func(ctx context.Context, term leader.Term, balance int) error {
		accepted, err := guardedSet.Run(ctx, client, []string{"account"}, term.FenceToken(), balance).Bool()
		if err == nil && !accepted {
			err = errStale
		}
		return err
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var first leader.Term
	err := leader.Run(ctx, redislock.New(client), leader.Config{
		Name:          "account-writer",
		LeaseDuration: time.Second,
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(_ context.Context, term leader.Term) {
				if first.FenceToken() == 0 {
					first = term
					fmt.Println("first term, write:", write(ctx, term, 100))
					term.Fail(errors.New("disk full")) // the term ends, and another one follows
					return
				}
				fmt.Println("second term, write:", write(ctx, term, 200))
				fmt.Println("higher token:", term.FenceToken() > first.FenceToken())
				fmt.Println("late write of the first term:", write(ctx, first, 999))
				cancel()
			},
		},
	})
	fmt.Println("balance:", client.HGet(context.Background(), "account", "balance").Val(), "error:", err)

	// Output:
	// first term, write: <nil>
	// second term, write: <nil>
	// higher token: true
	// late write of the first term: stale fencing token
	// balance: 200 error: <nil>
}

// The resource has accepted a higher fencing token: somebody else leads by now. The
// work says so, and the reason reaches the log, the metrics and Status.
func ExampleTerm_Fail() {
	client, stop := startRedis()
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	e, err := leader.New(redislock.New(client), leader.Config{
		Name: "account-writer",
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(ctx context.Context, term leader.Term) {
				term.Fail(fmt.Errorf("%w: %w", leader.ErrDeposed, errStale))
				fmt.Println("cause:", context.Cause(ctx))
			},
			OnStoppedLeading: cancel,
		},
	})
	if err != nil {
		panic(err)
	}
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
	fmt.Println("reason:", e.Status().LastTerms[0].Reason)

	// Output:
	// cause: leader: the work has failed: leader: deposed: stale fencing token
	// reason: deposed
}

// What a candidate knows, for a page or a command of your own. Package leaderhttp
// serves it as JSON and as a page.
func ExampleElector_Status() {
	client, stop := startRedis()
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	show := func(e *leader.Elector) {
		s := e.Status()
		fmt.Printf("%s: %s, leader %q, %d earlier terms\n", s.Name, s.State, s.Leader.Identity, len(s.LastTerms))
	}
	var e *leader.Elector
	e, err := leader.New(redislock.New(client), leader.Config{
		Name:     "report-scheduler",
		Identity: "replica-1",
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) {
			show(e)
			cancel()
			<-ctx.Done()
		}},
	})
	if err != nil {
		panic(err)
	}
	show(e)
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
	show(e)

	// Output:
	// report-scheduler: stopped, leader "", 0 earlier terms
	// report-scheduler: leading, leader "replica-1", 0 earlier terms
	// report-scheduler: stopped, leader "", 1 earlier terms
}

// A command that asks the leader to step down, from any machine that reaches Redis. To
// delete the key instead would give the election two leaders for a while.
func ExampleRequestResign() {
	client, stop := startRedis()
	defer stop()

	locker := redislock.New(client)
	started := make(chan leader.Term)
	e, err := leader.New(locker, leader.Config{
		Name:          "report-scheduler",
		LeaseDuration: 300 * time.Millisecond,
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, term leader.Term) {
			started <- term
			<-ctx.Done()
			fmt.Println(context.Cause(ctx))
		}},
	})
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error)
	go func() { ended <- e.Run(ctx) }()

	term := <-started // on another machine: Elector.Leader has the token, and so has Redis
	key := leader.LockKey("", "report-scheduler")
	fmt.Println("request:", leader.RequestResign(ctx, locker, key, term.FenceToken()))

	<-started // alone, it leads again after a while
	err = leader.RequestResign(ctx, locker, key, term.FenceToken())
	fmt.Println("that term is over:", errors.Is(err, redislock.ErrLockNotHeld))
	cancel()
	fmt.Println("error:", <-ended)

	// Output:
	// request: <nil>
	// leader: resigned
	// that term is over: true
	// context canceled
	// error: <nil>
}

// Logs go to any sink of logr; here that is log/slog with a handler of its own. Without
// a Logger they go to slog.Default. For zap and klog see examples/loggers.
func ExampleConfig_logger() {
	client, stop := startRedis()
	defer stop()

	handler := slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "fence" {
			return slog.Attr{} // differs from run to run
		}
		return a
	}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	err := leader.Run(ctx, redislock.New(client), leader.Config{
		Name:     "report-scheduler",
		Identity: "replica-1",
		Logger:   logr.FromSlogHandler(handler),
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) {
			cancel()
			<-ctx.Done()
		}},
	})
	if err != nil {
		panic(err)
	}

	// Output:
	// level=INFO msg="Became leader" name=report-scheduler identity=replica-1
	// level=INFO msg="Term ended" name=report-scheduler identity=replica-1 reason=stopped cause="context canceled"
	// level=INFO msg="Lock released" name=report-scheduler identity=replica-1
}
