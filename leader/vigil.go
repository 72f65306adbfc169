package leader

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

// vigil is how a candidate waits for its next attempt: it listens for announcements,
// and looks by itself when it is time. What it hears can make it try earlier, never
// later, so that lost, false and repeated announcements cost little.
type vigil struct {
	e     *Elector
	watch watch // from the first wait to the beginning of the term: who finds the lock free need not listen
	ended watch // the last that was closed
}

// keep waits until it is time for an attempt, after next at the latest, or ctx ends. It
// reports whether ctx is alive.
func (v *vigil) keep(ctx context.Context, next time.Duration) bool {
	if v.watch == nil {
		v.watch = v.e.locker.Watch(v.e.key)
	}
	due := time.Now().Add(next)
	timer := time.NewTimer(next)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-timer.C:
			return ctx.Err() == nil
		case a := <-v.watch.Announcements():
			if a.Kind == redislock.Unavailable {
				v.e.silent(a.Err)
				continue // an attempt that was suggested before stands
			}
			wait := suggested(a, time.Until(due))
			if wait <= 0 {
				return ctx.Err() == nil
			}
			timer.Reset(wait)
		}
	}
}

// suggested is after how long an announcement suggests an attempt, which is due by
// itself after so long.
func suggested(a redislock.Announcement, due time.Duration) time.Duration {
	switch a.Kind {
	case redislock.Released, redislock.Subscribed:
		return min(a.Delay, due)
	default: // taken: one that was suggested before is in vain
		return due
	}
}

// end stops listening.
func (v *vigil) end() {
	if v.watch != nil {
		v.watch.Close()
		v.watch, v.ended = nil, v.watch
	}
}

// join waits until nothing is left of listening.
func (v *vigil) join() {
	v.end()
	if v.ended != nil {
		v.ended.Join()
	}
}

// silent says once that announcements are denied. That they do not arrive while Redis
// is away goes without saying.
func (e *Elector) silent(err error) {
	if redis.HasErrorPrefix(err, "NOPERM") && !e.denied {
		e.denied = true
		e.cfg.Logger.Info("Announcements are not available, so a hand-over takes up to RetryPeriod", "error", err)
	}
}
