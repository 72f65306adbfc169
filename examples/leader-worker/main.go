// Command leader-worker is a service of which any number of replicas run, and one of them
// leads. The leader counts in a register that rejects the writes of a leader that has
// been replaced.
//
// To see that, with leaders that resign, crash and freeze, and nothing to set up:
//
//	go run ./examples/leader-worker
//
// For a service of your own, copy this directory without demo.go: the command is then one
// replica. Put your own work in the place of worker.go, and what it writes to in the place
// of register.go and register.lua. deploy.yaml runs it on Kubernetes. The environment
// configures it:
//
//	REDIS_URL       default redis://127.0.0.1:6379/0; with TLS rediss://
//	ELECTION_NAME   what the replicas compete for; default leader-worker
//	IDENTITY        who this replica is, for people; default host_pid_random
//	LEASE_DURATION  how long after its death a leader keeps the others waiting; default 15s
//	HTTP_ADDR       for /healthz, /readyz, /leader, /metrics and a status page; default :8080
//	LOG_LEVEL       debug, info, warn or error; default info
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leaderhttp"
	"github.com/redisleader/redisleader/metrics"
	"github.com/redisleader/redisleader/redislock"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, stop); err != nil {
		// leader.ErrDrainTimeout included: the end of the process is what ends work that
		// does not heed its context.
		slog.Error("Service failed", "error", err)
		os.Exit(1)
	}
}

// config is what the environment says.
type config struct {
	redis    *redis.Options
	election string
	identity string
	lease    time.Duration
	address  string
	logLevel slog.Level
}

// readConfig reports all that is wrong with the environment at once.
func readConfig() (config, error) {
	cfg := config{
		election: cmp.Or(os.Getenv("ELECTION_NAME"), "leader-worker"),
		identity: os.Getenv("IDENTITY"),
		address:  cmp.Or(os.Getenv("HTTP_ADDR"), ":8080"),
	}
	var errs [3]error
	cfg.redis, errs[0] = redis.ParseURL(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6379/0"))
	if errs[0] != nil { // it may show the password
		errs[0] = errors.New("REDIS_URL: not like redis://user:password@host:6379/0")
	}
	cfg.lease, errs[1] = time.ParseDuration(cmp.Or(os.Getenv("LEASE_DURATION"), "15s"))
	if errs[1] != nil {
		errs[1] = fmt.Errorf("LEASE_DURATION: %w", errs[1])
	}
	if errs[2] = cfg.logLevel.UnmarshalText([]byte(cmp.Or(os.Getenv("LOG_LEVEL"), "info"))); errs[2] != nil {
		errs[2] = fmt.Errorf("LOG_LEVEL: %w", errs[2])
	}
	return cfg, errors.Join(errs[:]...)
}

// run is one replica: it competes, and works while it leads, until ctx ends. stop ends
// ctx.
func run(ctx context.Context, stop func()) error {
	// The elector logs here, too. go-redis need not: what matters is in its errors.
	cfg, err := readConfig()
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, &slog.HandlerOptions{Level: cfg.logLevel})))
	logging.Disable()
	if err != nil {
		return err
	}
	// One client for election and work. Without ContextTimeoutEnabled, a context does not
	// interrupt a call that hangs: neither a renewal nor a write would end in time.
	cfg.redis.ContextTimeoutEnabled = true
	client := redis.NewClient(cfg.redis)
	defer func() { _ = client.Close() }()

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	observer, err := metrics.New(registry)
	if err != nil {
		return err
	}
	register := register{client, cfg.election}
	elector, err := leader.New(redislock.New(client), leader.Config{
		Name:          cfg.election,
		Identity:      cfg.identity,
		LeaseDuration: cfg.lease,
		Observer:      observer,
		// The register still knows the highest token if the election's Redis has lost it.
		FenceFloor: register.highestToken,
		Callbacks:  leader.Callbacks{OnStartedLeading: worker{register}.run},
	})
	if err != nil {
		return err
	}
	return serve(cfg.address, routes(ctx, elector, registry, cfg.lease), stop, func() error { return elector.Run(ctx) })
}

// serve serves HTTP until run returns: a replica that drains can still be watched. A
// server that fails calls stop.
func serve(address string, handler http.Handler, stop func(), run func() error) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("HTTP_ADDR: %w", err)
	}
	slog.Info("Listening", "address", listener.Addr().String())
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second}
	var serving sync.WaitGroup
	var served error
	serving.Go(func() {
		defer stop()
		served = server.Serve(listener)
	})
	err = run()
	_ = server.Close()
	serving.Wait()
	if errors.Is(served, http.ErrServerClosed) {
		served = nil
	}
	return errors.Join(err, served)
}

// routes are the endpoints of a replica. ctx ends when the replica is asked to stop.
func routes(ctx context.Context, elector *leader.Elector, registry *prometheus.Registry, lease time.Duration) http.Handler {
	mux := http.NewServeMux()
	// For a liveness probe. A term that ought to have ended a whole lease ago is one that
	// only a restart ends. That Redis is away is no reason to restart all replicas.
	mux.Handle("GET /healthz", leaderhttp.HealthzHandler(lease, elector))
	mux.Handle("GET /readyz", readyz(ctx))
	mux.Handle("GET /leader", leaderhttp.LeaderHandler(elector)) // for a load balancer
	mux.Handle("GET /{$}", leaderhttp.StatusHandler(elector))    // for people
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	return mux
}

// readyz has nothing to do with leading. A follower is ready: it serves requests, and
// takes over at any moment. If it were not, a rolling update would wait for it to lead,
// which it cannot before the old leader is gone.
func readyz(ctx context.Context) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
