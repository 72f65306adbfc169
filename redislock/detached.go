package redislock

import (
	"context"
	"time"
)

// Bounds of a call that is detached from the caller's context, because that has often ended by then: a third of the ttl, after
// which there is soon nothing left to delete, within these limits.
const (
	minDetached = 250 * time.Millisecond
	maxDetached = 2 * time.Second
)

// detached is a context with the values of another and a deadline of its own. It has no timer, which would cost more than the
// rest of a release: whoever waits for something looks at the deadline, as go-redis does for its reads, writes and dials.
type detached struct {
	context.Context // for its values
	deadline        time.Time
}

func detach(ctx context.Context, ttl time.Duration) context.Context {
	return &detached{ctx, time.Now().Add(max(minDetached, min(ttl/3, maxDetached)))}
}

func (d *detached) Deadline() (time.Time, bool) { return d.deadline, true }

func (d *detached) Done() <-chan struct{} { return nil }

func (d *detached) Err() error {
	if time.Now().Before(d.deadline) {
		return nil
	}
	return context.DeadlineExceeded
}
