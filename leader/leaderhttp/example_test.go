package leaderhttp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leaderhttp"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/redislock"
)

// The endpoints of a replica: a liveness probe that fails when the elector hangs, one that
// lets a load balancer send requests to the leader, and one that shows people a page and
// programs JSON.
func ExampleLeaderHandler() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mux := http.NewServeMux()
	probe := func() {
		for _, path := range []string{"/healthz", "/leader"} {
			reply := httptest.NewRecorder()
			mux.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, path, nil))
			fmt.Println(path, reply.Code)
		}
	}
	work := func(context.Context, leader.Term) {
		probe()
		cancel()
	}
	// In a service this is redislock.New of a *redis.Client.
	e, err := leader.New(redislock.New(leadertest.NewServer()), leader.Config{
		Name:      "report-scheduler",
		Callbacks: leader.Callbacks{OnStartedLeading: work},
	})
	if err != nil {
		panic(err)
	}
	mux.Handle("GET /healthz", leaderhttp.HealthzHandler(15*time.Second, e))
	mux.Handle("GET /leader", leaderhttp.LeaderHandler(e))
	mux.Handle("GET /{$}", leaderhttp.StatusHandler(e))

	probe()
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
	probe()

	// Output:
	// /healthz 200
	// /leader 503
	// /healthz 200
	// /leader 200
	// /healthz 200
	// /leader 503
}

// Who leads, for people and scripts.
func ExampleStatusHandler() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var e *leader.Elector
	ask := func() {
		reply := httptest.NewRecorder()
		leaderhttp.StatusHandler(e).ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/", nil))
		var electors []struct{ Name, State, Leader string }
		if err := json.Unmarshal(reply.Body.Bytes(), &electors); err != nil {
			panic(err)
		}
		fmt.Printf("%+v\n", electors)
	}
	work := func(context.Context, leader.Term) {
		ask()
		cancel()
	}
	e, err := leader.New(redislock.New(leadertest.NewServer()), leader.Config{
		Name:      "report-scheduler",
		Identity:  "replica-1",
		Callbacks: leader.Callbacks{OnStartedLeading: work},
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

// A liveness probe that can be set up before there is an elector.
func ExampleHealthzAdaptor() {
	health := leaderhttp.NewHealthzAdaptor(15 * time.Second)
	healthz := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := health.Check(r); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, health.Name(), "ok")
	})
	probe := func() {
		reply := httptest.NewRecorder()
		healthz.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		fmt.Print(reply.Code, " ", reply.Body)
	}

	probe()
	e, err := leader.New(redislock.New(leadertest.NewServer()), leader.Config{
		Name:      "report-scheduler",
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {}},
	})
	if err != nil {
		panic(err)
	}
	health.SetLeaderElection(e)
	probe() // a candidate is healthy

	// Output:
	// 200 leaderElection ok
	// 200 leaderElection ok
}
