package leader

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// renewal keeps the lease of one term alive. It belongs to the goroutine of Run. Only
// the calls to Redis run elsewhere, so that one that hangs delays neither the next nor
// the end of the term.
type renewal struct {
	term   *term
	lock   lock
	timing timing

	ctx      context.Context // of the calls to Redis
	cancel   context.CancelFunc
	calls    *sync.WaitGroup // calls to Redis under way
	due      *time.Timer     // the next attempt
	deadline *time.Timer     // ends the term by itself, unless it is renewed
	answers  chan answer
	attempts int  // since the last success
	lost     bool // Redis said that the lock is not ours
}

// answer is what became of one attempt.
type answer struct {
	attempt int
	sent    clock.Instant
	took    time.Duration
	err     error
}

func newRenewal(t *term, l lock, timing timing, calls *sync.WaitGroup) *renewal {
	r := &renewal{term: t, lock: l, timing: timing, calls: calls, answers: make(chan answer)}
	// Goes on while the term drains.
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(t.ctx))
	r.due = time.NewTimer(timing.renew)
	r.deadline = time.AfterFunc(maxLeaseDuration, r.expire) // schedule sets it
	r.schedule()
	return r
}

// schedule sets both timers after a success, counting from before it was sent.
func (r *renewal) schedule() {
	age := r.term.sinceRenewed(r.term.now())
	r.due.Reset(r.timing.renew - age)
	r.deadline.Reset(r.timing.deadline - age)
}

// expire ends the term when its deadline has come. It runs on a goroutine of the
// timer's, so that the work learns of the end even if the goroutine of Run is stuck, in
// a Logger whose pipe is full or in an Observer.
func (r *renewal) expire() {
	if r.term.check() == nil { // the timer was early, or the term has just been renewed
		r.deadline.Reset(r.term.remaining(r.term.now()))
	}
}

// attempt sends a refresh and sets the timer for the next one, in case this one stays
// without an answer. It sends none when the lease is no longer ours to renew.
func (r *renewal) attempt() {
	if r.lost || r.lock.Remaining() <= 0 {
		return
	}
	r.attempts++
	a := answer{attempt: r.attempts, sent: r.term.now()}
	l := r.lock
	r.calls.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, r.timing.attempt)
		defer cancel()
		a.err = l.Refresh(ctx, r.timing.lease, nil)
		a.took = r.term.now().Since(a.sent)
		select {
		case r.answers <- a:
		case <-r.ctx.Done():
		}
	})
	r.due.Reset(r.timing.attempt + r.pause())
}

func (r *renewal) pause() time.Duration {
	return between(r.timing.pause/2, r.timing.pause)
}

// describe is what an Observer is told of an answer. Call it before apply.
func (r *renewal) describe(a answer) Renewal {
	described := Renewal{Duration: a.took, Attempts: a.attempt, Err: a.err}
	if a.err == nil {
		described.Margin = r.term.remaining(r.term.now())
	}
	return described
}

// apply takes the answer to an attempt. Each answer carries its own instant, so that a
// late answer to an older attempt is worth what it says and no more. The error, if any,
// is why the term has to end.
func (r *renewal) apply(a answer) error {
	switch {
	case a.err == nil:
		r.term.extend(a.sent)
		r.attempts = 0
		r.schedule()
		if r.lock.ReleaseRequested() {
			return ErrResigned
		}
	case errors.Is(a.err, redislock.ErrNotObtained):
		r.lost = true
		if err := r.term.check(); err != nil {
			return err // it ran out first: the lock says so too
		}
		return ErrLost
	case a.attempt == r.attempts: // the newest: nothing else is under way
		r.due.Reset(r.pause())
	}
	return nil
}

// replace goes on with a lock that was obtained anew, by a request sent at that
// instant.
func (r *renewal) replace(l lock, sent clock.Instant) {
	r.lock = l
	r.term.extend(sent)
	r.schedule()
}

// stop ends renewing. It does not wait for calls that are under way: they cannot bring
// back a lock that is deleted.
func (r *renewal) stop() {
	r.cancel()
	r.due.Stop()
	r.deadline.Stop()
}
