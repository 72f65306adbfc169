package leader

import (
	"context"
	"errors"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// renewal keeps the lease of one term alive. It belongs to the goroutine of Run; only
// the calls to Redis run elsewhere, so that one that hangs delays neither the next nor
// the end of the term.
type renewal struct {
	e    *Elector
	t    *term
	lock lock

	ctx      context.Context // of the calls to Redis
	cancel   context.CancelFunc
	due      *time.Timer // the next attempt
	deadline *time.Timer // ends the term by itself, unless it is renewed
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

func newRenewal(e *Elector, t *term, l lock) *renewal {
	r := &renewal{e: e, t: t, lock: l, answers: make(chan answer)}
	r.ctx, r.cancel = context.WithCancel(context.WithoutCancel(t.ctx)) // goes on while the term drains
	r.due = time.NewTimer(e.timing.renew)
	r.deadline = time.AfterFunc(maxLeaseDuration, r.expire) // schedule sets it
	r.schedule()
	return r
}

// schedule sets both timers after a success, counting from before it was sent.
func (r *renewal) schedule() {
	age := r.e.now().Since(*r.t.renewed.Load())
	r.due.Reset(r.e.timing.renew - age)
	r.deadline.Reset(r.e.timing.deadline - age)
}

// expire ends the term when its deadline has come. It runs on a goroutine of the
// timer's, so that the work learns of the end even if the goroutine of Run is stuck, in
// a Logger whose pipe is full or in an Observer.
func (r *renewal) expire() {
	if r.t.check() == nil { // the timer was early, or the term has just been renewed
		r.deadline.Reset(r.t.remaining(r.e.now()))
	}
}

// attempt sends a refresh and sets the timer for the next one, in case this stays
// without an answer. It sends none when the lease is no longer ours to renew.
func (r *renewal) attempt() {
	if r.lost || r.lock.Remaining() <= 0 {
		return
	}
	r.attempts++
	a := answer{attempt: r.attempts, sent: r.e.now()}
	l := r.lock
	r.e.calls.Go(func() {
		ctx, cancel := context.WithTimeout(r.ctx, r.e.timing.attempt)
		defer cancel()
		a.err = l.Refresh(ctx, r.e.timing.lease, nil)
		a.took = r.e.now().Since(a.sent)
		select {
		case r.answers <- a:
		case <-r.ctx.Done():
		}
	})
	r.due.Reset(r.e.timing.attempt + r.pause())
}

func (r *renewal) pause() time.Duration {
	return between(r.e.timing.pause/2, r.e.timing.pause)
}

// handle takes the answer to an attempt. Each answer carries its own instant, so that a
// late answer to an older attempt is worth what it says and no more. The error is
// ErrLost or nil.
func (r *renewal) handle(a answer) error {
	observed := Renewal{Duration: a.took, Attempts: a.attempt, Err: a.err}
	if a.err == nil {
		observed.Margin = r.t.remaining(r.e.now())
	}
	r.e.cfg.Observer.RenewAttempted(r.e.cfg.Name, observed)
	switch {
	case a.err == nil:
		r.t.extend(a.sent)
		r.attempts = 0
		r.e.trouble.clear()
		r.schedule()
	case errors.Is(a.err, redislock.ErrNotObtained):
		r.lost = true
		if err := r.t.check(); err != nil {
			return err // it ran out first: the lock says so too
		}
		return ErrLost
	default:
		r.e.trouble.report("Cannot renew the lease", a.err)
		if a.attempt == r.attempts { // the newest: nothing else is under way
			r.due.Reset(r.pause())
		}
	}
	return nil
}

// stop ends renewing. It does not wait for calls that are under way: they cannot bring
// back a lock that is deleted.
func (r *renewal) stop() {
	r.cancel()
	r.due.Stop()
	r.deadline.Stop()
}
