package main

import (
	"context"
	"fmt"
	"log/slog"
)

// redisLog has the Redis client log like the rest of the program, instead of in a
// format of its own.
type redisLog struct{ logger *slog.Logger }

// Printf is what redis.SetLogger wants.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.logger.WarnContext(ctx, "Redis client", "message", fmt.Sprintf(format, args...))
}
