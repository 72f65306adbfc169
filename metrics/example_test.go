package metrics_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/metrics"
	"github.com/redisleader/redisleader/redislock"
)

// A replica that serves the metrics of its elector.
func ExampleNew() {
	registry := prometheus.NewRegistry()
	observer, err := metrics.New(registry)
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	work := func(context.Context, leader.Term) {
		printStatus(mux)
		cancel()
	}
	// In a service this is redislock.New of a *redis.Client.
	e, err := leader.New(redislock.New(leadertest.NewServer()), leader.Config{
		Name:      "report-scheduler",
		Observer:  observer,
		Callbacks: leader.Callbacks{OnStartedLeading: work},
	})
	if err != nil {
		panic(err)
	}
	printStatus(mux)
	if err := e.Run(ctx); err != nil {
		panic(err)
	}

	// Output:
	// leader_election_master_status{name="report-scheduler"} 0
	// leader_election_master_status{name="report-scheduler"} 1
}

// printStatus prints one line of what Prometheus would get.
func printStatus(handler http.Handler) {
	reply := httptest.NewRecorder()
	handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for line := range strings.Lines(reply.Body.String()) {
		if strings.HasPrefix(line, "leader_election_master_status") {
			fmt.Print(line)
		}
	}
}
