package leader

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock/announce"
)

// wait is how a candidate waits for its next attempt: it listens for announcements, and
// tries by itself when it is time. What it hears can make it try earlier and never
// later, so that lost, false and repeated announcements cost little.
type wait struct {
	locker locker
	key    string
	logger logr.Logger

	// From the first wait to the beginning of the term. A candidate that finds the lock
	// free need not listen.
	watch  watch
	closed watch // the one that was closed last
	denied bool  // the server denies announcements, and the log says so
}

// until waits until it is time for an attempt, for next at most, or until ctx ends. It
// reports whether ctx has not ended.
func (w *wait) until(ctx context.Context, next time.Duration) bool {
	if w.watch == nil {
		w.watch = w.locker.Watch(w.key)
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
		case a := <-w.watch.Announcements():
			if a.Kind == announce.Unavailable {
				w.unavailable(a.Err)
				continue // an attempt that was suggested before stands
			}
			delay := suggestedDelay(a, time.Until(due))
			if delay <= 0 {
				return ctx.Err() == nil
			}
			timer.Reset(delay)
		}
	}
}

// suggestedDelay is how long to wait for the next attempt after an announcement, if the
// attempt is due by itself after due.
func suggestedDelay(a announce.Announcement, due time.Duration) time.Duration {
	switch a.Kind {
	case announce.Released, announce.Subscribed:
		return min(a.Delay, due)
	default: // acquired: an attempt that was suggested before would be in vain
		return due
	}
}

// stopListening ends what the first wait began.
func (w *wait) stopListening() {
	if w.watch != nil {
		w.watch.Close()
		w.watch, w.closed = nil, w.watch
	}
}

// join waits until nothing is left of listening.
func (w *wait) join() {
	w.stopListening()
	if w.closed != nil {
		w.closed.Join()
	}
}

// unavailable logs once that the server denies announcements. While Redis is away they
// do not arrive either, but that needs no line of its own.
func (w *wait) unavailable(err error) {
	if redis.HasErrorPrefix(err, "NOPERM") && !w.denied {
		w.denied = true
		w.logger.Info("Announcements are not available, so a hand-over takes up to RetryPeriod", "error", err)
	}
}
