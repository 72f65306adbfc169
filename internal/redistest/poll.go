package redistest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const (
	startTimeout = 15 * time.Second       // until a server serves, on a busy machine
	probeTimeout = 500 * time.Millisecond // until a server answers one question
	stopTimeout  = 5 * time.Second        // until a server has ended after SIGTERM
	joinTimeout  = 60 * time.Second       // until several servers agree
	pollInterval = 10 * time.Millisecond
)

// errEnded says that the process that was to serve has ended.
var errEnded = errors.New("process ended")

// poll calls check until it returns nil. It gives up when ended is closed (nil: never)
// or ctx ends. The error then includes the last error of check.
func poll(ctx context.Context, ended <-chan struct{}, check func() error) error {
	ticker := time.NewTicker(pollInterval)
	defer ticker.Stop()
	for {
		err := check()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("%w; before that: %w", errEnded, err)
		default:
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; last: %w", ctx.Err(), err)
		case <-ticker.C:
		}
	}
}

// await calls check until it returns nil, for joinTimeout at most.
func await(what string, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	if err := poll(ctx, nil, func() error { return check(ctx) }); err != nil {
		return fmt.Errorf("redistest: waiting for %s: %w", what, err)
	}
	return nil
}

// mustAwait is await, and fails the test instead of returning an error.
func mustAwait(tb testing.TB, what string, check func(context.Context) error) {
	tb.Helper()
	if err := await(what, check); err != nil {
		tb.Fatal(err)
	}
}
