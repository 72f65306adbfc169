// An elector that logs through zap:
//
//	go run ./zap
//
// The elector logs repeated errors at V(1), which is zap's debug level.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/go-logr/logr"
	"github.com/go-logr/zapr"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"github.com/redisleader/redisleader/examples/loggers/election"
)

func main() {
	if err := election.Run(context.Background(), newLogger(os.Stderr, zapcore.InfoLevel)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// newLogger wraps a zap.Logger, which can be the one that your program already has.
func newLogger(w io.Writer, level zapcore.Level) logr.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zapr.NewLogger(zap.New(zapcore.NewCore(encoder, zapcore.AddSync(w), level)))
}
