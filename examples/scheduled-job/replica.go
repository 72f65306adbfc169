package main

import (
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

const (
	period = 200 * time.Millisecond
	lease  = 500 * time.Millisecond // longer than a slot: a leader that is killed leaves slots behind

	// msgCatchesUp is logged, with "detail", by a leader that finds slots which nobody
	// has run.
	msgCatchesUp = "Catches up"
)

// replicaConfig is what the demo tells a replica.
type replicaConfig struct {
	redisURL string
	name     string // what is competed for
	identity string
	start    time.Time // of the schedule
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
	flags := flag.NewFlagSet("scheduled-job -replica", flag.ContinueOnError)
	flags.Bool("replica", true, "run one replica")
	flags.StringVar(&cfg.name, "name", "", "what the replicas compete for")
	flags.StringVar(&cfg.identity, "identity", "", "who this replica is")
	start := flags.Int64("start", 0, "when slot 0 is due, in `milliseconds` since 1970")
	err := flags.Parse(args)
	cfg.start = time.UnixMilli(*start)
	return cfg, err
}

// runReplica competes, and runs the job while it leads, until the demo is over.
func runReplica(cfg replicaConfig, logger *slog.Logger) error {
	ctx, stop := show.ChildContext()
	defer stop()
	client, err := show.Dial(cfg.redisURL)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()

	timetable := schedule{cfg.start, period}
	store := claims{client, keys(cfg.name)}
	work := worker{timetable, store, newMemory(client, keys(cfg.name), cfg.identity, timetable.latest(time.Now())), logger}
	return leader.Run(ctx, redislock.New(client), leader.Config{
		Name:          cfg.name,
		Identity:      cfg.identity,
		LeaseDuration: lease,
		Logger:        logr.FromSlogHandler(logger.Handler()),
		FenceFloor:    store.highestFence,
		Callbacks:     leader.Callbacks{OnStartedLeading: work.run},
	})
}
