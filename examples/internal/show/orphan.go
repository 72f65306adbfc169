package show

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// errOrphan is why a replica stops whose demo is gone.
var errOrphan = errors.New("standard input was closed")

// ChildContext is for the main function of a Child: a context that ends when the demo
// asks it to end or is gone.
func ChildContext() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancelCause(ctx)
	go func() { // ends with the process: a read of stdin cannot be interrupted
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel(errOrphan)
	}()
	return ctx, func() { cancel(nil); stop() }
}

// UntilSignal is for the main function of a demo: a context that ends with the first
// signal to end, so that all can be done in good order. A second signal has its usual
// effect, should that take too long.
func UntilSignal() (context.Context, context.CancelFunc) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}
