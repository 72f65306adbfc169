// Package election is what the programs for each logger share: a candidate that leads
// once.
package election

import (
	"context"
	"fmt"

	"github.com/alicebob/miniredis/v2"
	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// Run lets a candidate that logs to logger become leader, work and step down, on a Redis
// in this process.
func Run(ctx context.Context, logger logr.Logger) error {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // otherwise its clock stands still, and no lease ever runs out
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return fmt.Errorf("embedded Redis: %w", err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer func() { _ = client.Close() }()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return leader.Run(ctx, redislock.New(client), leader.Config{
		Name:     "report-scheduler",
		Identity: "replica-1",
		Logger:   logger,
		Callbacks: leader.Callbacks{
			// The work is done, and so is the program.
			OnStartedLeading: func(context.Context, leader.Term) { cancel() },
		},
	})
}
