package leader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// A service that works on one replica at a time. Run returns when ctx has ended and the
// work has stopped; in a program ctx comes from signal.NotifyContext.
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
				cancel()     // the program is told to stop
				<-ctx.Done() // the work stops
				fmt.Println("work stopped:", context.Cause(ctx))
			},
			OnStoppedLeading: func() { fmt.Println("no longer leader") },
		},
	})
	fmt.Println("error:", err)

	// Output:
	// replica-1 leads report-scheduler
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

// errStale is what the account answers to a leader of the past.
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
	var terms []leader.Term
	err := leader.Run(ctx, redislock.New(client), leader.Config{
		Name:          "account-writer",
		LeaseDuration: time.Second,
		Callbacks: leader.Callbacks{
			OnStartedLeading: func(_ context.Context, term leader.Term) {
				terms = append(terms, term)
				fmt.Println("lasts:", term.Check() == nil, "write:", write(ctx, term, 100*len(terms)))
				if len(terms) == 2 { // returning ends a term, and another one follows
					fmt.Println("higher token:", terms[1].FenceToken() > terms[0].FenceToken())
					fmt.Println("late write of the first term:", write(ctx, terms[0], 999))
					cancel()
				}
			},
		},
	})
	fmt.Println("balance:", client.HGet(context.Background(), "account", "balance").Val(), "error:", err)

	// Output:
	// lasts: true write: <nil>
	// lasts: true write: <nil>
	// higher token: true
	// late write of the first term: stale fencing token
	// balance: 200 error: <nil>
}

// A liveness probe that fails when the elector hangs: the term ended more than ten
// seconds ago, and it did not step down.
func ExampleHealthzAdaptor() {
	client, stop := startRedis()
	defer stop()

	health := leader.NewHealthzAdaptor(10 * time.Second)
	healthz := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := health.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, health.Name(), "ok")
	})
	ask := func() {
		reply := httptest.NewRecorder()
		healthz.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		fmt.Print(reply.Code, " ", reply.Body)
	}

	ask() // there need not be an elector yet
	e, err := leader.New(redislock.New(client), leader.Config{
		Name:      "report-scheduler",
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {}},
	})
	if err != nil {
		panic(err)
	}
	health.SetLeaderElection(e)
	ask() // a candidate is healthy

	// Output:
	// 200 leaderElection ok
	// 200 leaderElection ok
}

// Who leads, for people and scripts.
func ExampleStatusHandler() {
	client, stop := startRedis()
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e *leader.Elector
	ask := func() {
		reply := httptest.NewRecorder()
		leader.StatusHandler(e).ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/leader", nil))
		var electors []struct{ Name, State, Leader string }
		if err := json.Unmarshal(reply.Body.Bytes(), &electors); err != nil {
			panic(err)
		}
		fmt.Printf("%+v\n", electors)
	}
	e, err := leader.New(redislock.New(client), leader.Config{
		Name:     "report-scheduler",
		Identity: "replica-1",
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {
			ask()
			cancel()
		}},
	})
	if err != nil {
		panic(err)
	}
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
	ask()

	// Output:
	// [{Name:report-scheduler State:leading Leader:replica-1}]
	// [{Name:report-scheduler State:stopped Leader:}]
}
