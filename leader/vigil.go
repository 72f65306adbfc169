package leader

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

// vigil is how a candidate waits for its next attempt: it listens for announcements, and looks by itself when it is time. What
// it hears can make it try earlier, never later, so that lost, false and repeated announcements cost little.
type vigil struct {
	e     *Elector
	watch watch // from the first wait on: who finds the lock free need not listen
}

// keep waits until it is time for an attempt, after next at the latest, or ctx ends. It reports whether ctx is alive.
func (v *vigil) keep(ctx context.Context, next time.Duration) bool {
	if v.watch == nil {
		v.watch = v.e.locker.Watch(v.e.key)
	}
	due := time.NewTimer(next)
	defer due.Stop()
	hinted := time.NewTimer(next)
	defer hinted.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-due.C:
			return ctx.Err() == nil
		case <-hinted.C:
			return ctx.Err() == nil
		case a := <-v.watch.Announcements():
			if !v.hear(a, hinted) {
				return ctx.Err() == nil
			}
		}
	}
}

// hear takes an announcement and reports whether to go on waiting, with hinted set to when it suggests an attempt.
func (v *vigil) hear(a redislock.Announcement, hinted *time.Timer) bool {
	switch a.Kind {
	case redislock.Taken:
		hinted.Stop() // somebody was faster
	case redislock.Unavailable:
		v.e.silent(a.Err)
	default:
		hinted.Reset(a.Delay)
		return a.Delay > 0
	}
	return true
}

// end stops listening.
func (v *vigil) end() {
	if v.watch != nil {
		v.watch.Close()
		v.e.listened = v.watch
	}
}

// silent says once that announcements are denied. That they do not arrive while Redis is away goes without saying.
func (e *Elector) silent(err error) {
	if redis.HasErrorPrefix(err, "NOPERM") && !e.denied {
		e.denied = true
		e.cfg.Logger.Info("Announcements are not available, so a hand-over takes up to RetryPeriod", "error", err)
	}
}
