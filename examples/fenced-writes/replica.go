package main

import (
	"context"
	"flag"
	"log/slog"
	"os"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/examples/internal/show"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

const lease = time.Second

// replicaConfig is what the demo tells a replica.
type replicaConfig struct {
	redisURL string
	database string // file
	name     string // what is competed for
	identity string
}

// replicaMain is the program with -replica.
func replicaMain(args []string) int {
	cfg, err := parseReplica(args)
	if err != nil {
		return exitUsage
	}
	logger := newLogger()
	logging.Disable()
	if err := runReplica(cfg, logger); err != nil {
		logger.Error("Replica failed", "error", err)
		return exitFailed
	}
	return exitOK
}

func parseReplica(args []string) (replicaConfig, error) {
	cfg := replicaConfig{redisURL: os.Getenv("REDIS_URL")} // not a flag: those show in the list of processes, password and all
	flags := flag.NewFlagSet("fenced-writes -replica", flag.ContinueOnError)
	flags.Bool("replica", true, "run one replica")
	flags.StringVar(&cfg.database, "database", "", "`file` of the database")
	flags.StringVar(&cfg.name, "name", "", "what the replicas compete for")
	flags.StringVar(&cfg.identity, "identity", "", "who this replica is")
	return cfg, flags.Parse(args)
}

// runReplica competes, and sends invoices while it leads, until the demo is over.
func runReplica(cfg replicaConfig, logger *slog.Logger) error {
	ctx, stop := show.ChildContext()
	defer stop()
	client, err := show.Dial(cfg.redisURL)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	db, err := openDatabase(cfg.database)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()

	return leader.Run(ctx, redislock.New(client), leader.Config{
		Name:          cfg.name,
		Identity:      cfg.identity,
		LeaseDuration: lease,
		Logger:        logr.FromSlogHandler(logger.Handler()),
		// The database knows best which token it has accepted. Asked at the start of
		// each term, it keeps tokens rising even if Redis has lost its counter.
		FenceFloor: func(ctx context.Context) (int64, error) { return highestFence(ctx, db, fenceName) },
		Callbacks:  leader.Callbacks{OnStartedLeading: worker{invoices{db}, unguarded{db}, logger}.run},
	})
}
