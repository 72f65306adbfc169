package redistest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"
)

const (
	startTimeout = 15 * time.Second       // for a server to serve, on a busy machine
	probeTimeout = 500 * time.Millisecond // for a server to answer one question
	stopTimeout  = 5 * time.Second        // for a server to end in good order
	joinTimeout  = 60 * time.Second       // for several servers to agree
	pollInterval = 10 * time.Millisecond
)

// errEnded says that the process that was waited for has gone.
var errEnded = errors.New("process ended")

// poll calls check until it returns nil. It gives up when ended is closed
// (nil: never) or ctx is done, and then returns the last failure as well.
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

// await calls check until it returns nil and fails the test if that takes
// longer than joinTimeout.
func await(tb testing.TB, what string, check func(context.Context) error) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	if err := poll(ctx, nil, func() error { return check(ctx) }); err != nil {
		tb.Fatalf("redistest: waiting for %s: %v", what, err)
	}
}
