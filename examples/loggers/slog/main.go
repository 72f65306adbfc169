// An elector that logs through log/slog, here as JSON:
//
//	go run ./slog
//
// The elector logs repeated errors at V(1), which is slog's level -1, between Info and
// Debug.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/examples/loggers/election"
)

func main() {
	if err := election.Run(context.Background(), newLogger(os.Stderr, slog.LevelInfo)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newLogger needs nothing but slog and logr.
func newLogger(w io.Writer, level slog.Level) logr.Logger {
	return logr.FromSlogHandler(slog.NewJSONHandler(w, &slog.HandlerOptions{Level: level}))
}
