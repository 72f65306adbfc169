package leader

import (
	"context"
	"fmt"
	"time"
)

// Every calls f at once and then every d until ctx ends or f returns an error, on the
// caller's goroutine. It returns the error of f, or context.Cause(ctx). A call that
// takes longer than d is followed by the next one without a pause.
//
// Use it, or Sleep, for the loop of a leader's work. In a process that was frozen past
// its lease, a select on ctx.Done and a ticker finds both ready and picks either; Every
// looks at the clocks before each call.
func Every(ctx context.Context, d time.Duration, f func(ctx context.Context) error) error {
	if d <= 0 {
		return fmt.Errorf("leader: Every: period %v is not positive", d)
	}
	for next := time.Duration(0); ; {
		if err := Sleep(ctx, next); err != nil {
			return err
		}
		begin := time.Now()
		if err := f(ctx); err != nil {
			return err
		}
		next = d - time.Since(begin)
	}
}

// Sleep waits for d and returns nil, or returns context.Cause(ctx) as soon as ctx has
// ended. If ctx comes from an elector, directly or through other contexts, Sleep looks
// at the clocks after the wait: it never returns nil once the term has ended. A d of 0
// or less is such a look without a wait.
func Sleep(ctx context.Context, d time.Duration) error {
	if !sleep(ctx, d) {
		return context.Cause(ctx)
	}
	if term, ok := TermFromContext(ctx); ok {
		return term.Check() // a derived context learns of the end a moment later
	}
	return nil
}
