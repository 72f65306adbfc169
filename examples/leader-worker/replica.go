package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/metrics"
	"github.com/redisleader/redisleader/redislock"
)

// Messages of the structured log that others rely on; here that is the demo.
const (
	msgReplicaStarted = "Replica started"
	msgWorkStarted    = "Work started"
	msgWorkStopped    = "Work stopped"
)

// unhealthyAfter is how long a term may be overdue before /healthz fails and the
// process should be restarted. Redis being away is no reason to restart all replicas.
const unhealthyAfter = 20 * time.Second

// replicaMain is the program with -replica.
func replicaMain(args []string) int {
	cfg, err := parseReplica(args, os.Stderr)
	if err != nil {
		return usageStatus(err)
	}
	// Further signals change nothing: how long the work may take to stop is limited by
	// DrainTimeout.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if cfg.watchStdin {
		go stopAtEOF(os.Stdin, cancel) // ends with the process: a read of stdin cannot be interrupted
	}

	logger := slog.New(slog.NewJSONHandler(os.Stderr, nil))
	redis.SetLogger(redisLog{logger})
	if err := runReplica(ctx, cfg, logger); err != nil {
		// ErrDrainTimeout included: leaving the process is what ends work that does not
		// heed its context.
		logger.Error("Replica failed", "error", err)
		return exitFailed
	}
	return exitOK
}

// stopAtEOF stops the replica when whoever started it has closed the pipe, or has died.
func stopAtEOF(stdin io.Reader, stop context.CancelCauseFunc) {
	_, _ = io.Copy(io.Discard, stdin)
	stop(errors.New("standard input was closed"))
}

// runReplica is one replica of the service: it competes, and works while it leads,
// until ctx ends.
func runReplica(ctx context.Context, cfg replicaConfig, logger *slog.Logger) error {
	client := redis.NewClient(cfg.redis)
	defer func() { _ = client.Close() }()

	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	observer, err := metrics.New(registry)
	if err != nil {
		return err
	}

	store := newStore(cfg.resource)
	elector, err := leader.New(redislock.New(client), leader.Config{
		Name:          cfg.name,
		Identity:      cfg.identity,
		LeaseDuration: cfg.lease,
		Logger:        logr.FromSlogHandler(logger.Handler()),
		Observer:      observer,
		// The resource knows best which token it has accepted. Asked at the start of
		// each term, it keeps tokens rising even if Redis has lost its counter.
		FenceFloor: store.highestFence,
		Callbacks: leader.Callbacks{
			OnStartedLeading: worker{store, logger}.run,
		},
	})
	if err != nil {
		return fmt.Errorf("-name %q -lease %v: %w", cfg.name, cfg.lease, err)
	}

	probes, err := serveProbes(cfg.listen, routes(ctx, elector, registry))
	if err != nil {
		return err
	}
	// Closed last: a replica that drains can still be watched.
	defer probes.close()
	logger.Info(msgReplicaStarted, "address", probes.address, "pid", os.Getpid())

	return elector.Run(ctx)
}
