package leader_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// The endpoints of a replica: a liveness probe that fails when the elector hangs, one
// for a load balancer that sends requests to the leader, and one for people, which is a
// page in a browser and JSON for everybody else.
func ExampleLeaderHandler() {
	client, stop := startRedis()
	defer stop()

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	mux := http.NewServeMux()
	ask := func() {
		for _, path := range []string{"/healthz", "/leader"} {
			reply := httptest.NewRecorder()
			mux.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, path, nil))
			fmt.Println(path, reply.Code)
		}
	}
	e, err := leader.New(redislock.New(client), leader.Config{
		Name: "report-scheduler",
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {
			ask()
			cancel()
		}},
	})
	if err != nil {
		panic(err)
	}
	mux.Handle("GET /healthz", leader.HealthzHandler(10*time.Second, e))
	mux.Handle("GET /leader", leader.LeaderHandler(e))
	mux.Handle("GET /{$}", leader.StatusHandler(e))

	ask()
	if err := e.Run(ctx); err != nil {
		panic(err)
	}
	ask()

	// Output:
	// /healthz 200
	// /leader 503
	// /healthz 200
	// /leader 200
	// /healthz 200
	// /leader 503
}

// Logs go to any sink of logr; here that is log/slog. For zap and klog see
// examples/loggers.
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
		Name:      "report-scheduler",
		Identity:  "replica-1",
		Logger:    logr.FromSlogHandler(handler),
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) { cancel() }},
	})
	if err != nil {
		panic(err)
	}

	// Output:
	// level=INFO msg="Became leader" name=report-scheduler identity=replica-1
	// level=INFO msg="Stopped leading" name=report-scheduler identity=replica-1 reason=stopped
}
