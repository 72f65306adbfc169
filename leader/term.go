package leader

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// Term is one period of leadership of one candidate. It is a small value that may be
// copied and used by many goroutines; its methods do no I/O, take no lock that anybody
// waits for, and cost less than a microsecond. The zero Term is one that has ended.
type Term struct{ t *term }

// FenceToken is the term's fencing token: higher than those of all earlier terms of
// this name. Send it along with each write, and have the protected resource reject
// tokens lower than the highest it has seen.
func (t Term) FenceToken() int64 {
	if t.t == nil {
		return 0
	}
	return t.t.fence
}

// Identity is the identity of the candidate that leads.
func (t Term) Identity() string {
	if t.t == nil {
		return ""
	}
	return t.t.identity
}

// Name is the name that was competed for.
func (t Term) Name() string {
	if t.t == nil {
		return ""
	}
	return t.t.name
}

// StartedAt is when the term began, by this machine's wall clock.
func (t Term) StartedAt() time.Time {
	if t.t == nil {
		return time.Time{}
	}
	return t.t.startedAt
}

// Remaining is how long the term lasts unless it is renewed; zero or less if it has
// ended.
func (t Term) Remaining() time.Duration {
	if t.Check() != nil {
		return 0
	}
	return t.t.remaining(t.t.now())
}

// Check returns nil while the term lasts, by the clocks at the time of the call, and
// afterwards why it ended: an error that matches ErrLost, ErrExpired, ErrResigned, or
// the cause of the context given to Run. Call it before each side effect that no
// fencing token protects.
func (t Term) Check() error {
	if t.t == nil {
		return ErrExpired
	}
	return t.t.check()
}

// termKey is the key of the Term in a term's context.
type termKey struct{}

// TermFromContext returns the term that ctx, or a context that it was derived from, was
// made for by an Elector.
func TermFromContext(ctx context.Context) (Term, bool) {
	t, ok := ctx.Value(termKey{}).(Term)
	return t, ok
}

// term is what a Term refers to. The goroutine of Run makes and ends it; fields without
// a comment of their own are set before anybody else can see it.
type term struct {
	name      string
	identity  string
	fence     int64
	startedAt time.Time
	limit     time.Duration // RenewDeadline
	now       func() clock.Instant

	renewed atomic.Pointer[clock.Instant] // the instant before the latest successful refresh was sent
	ctx     context.Context               // done once the term has ended; its cause says why
	end     context.CancelCauseFunc
	renewal *renewal // of the goroutine of Run alone

	resignOnce sync.Once
	resigning  chan struct{} // closed by Resign
	over       chan struct{} // closed by the goroutine of Run after the last step of the step-down
	outcome    error         // of the step-down; to be read once over is closed

	work *work
}

func newTerm(ctx context.Context, e *Elector, sent clock.Instant, l lock) *term {
	t := &term{
		name:      e.cfg.Name,
		identity:  e.cfg.Identity,
		fence:     l.FenceToken(),
		limit:     e.timing.deadline,
		now:       e.now,
		resigning: make(chan struct{}),
		over:      make(chan struct{}),
	}
	t.renewed.Store(&sent)
	// The work must not be cancelled by the caller's context but by the step-down,
	// after IsLeader has become false.
	t.ctx, t.end = context.WithCancelCause(context.WithoutCancel(ctx))
	t.renewal = newRenewal(e, t, l)
	t.work = newWork(termContext{t.ctx, t})
	return t
}

// began reports whether somebody was told that the term has begun.
func (t *term) began() bool { return !t.startedAt.IsZero() }

// remaining is pure arithmetic: how long the term lasts after now, unless it is renewed.
func (t *term) remaining(now clock.Instant) time.Duration {
	return t.limit - now.Since(*t.renewed.Load())
}

// check looks at the clocks. Whoever sees first that the deadline has passed ends the
// term, so that it cannot be renewed after somebody was told that it is over.
func (t *term) check() error {
	if t.ctx.Err() == nil && t.remaining(t.now()) > 0 {
		return nil
	}
	t.end(ErrExpired) // no effect if it has ended for another reason
	return context.Cause(t.ctx)
}

// extend notes that a refresh sent at that instant has succeeded. One that was sent
// before the last to succeed adds nothing.
func (t *term) extend(sent clock.Instant) {
	_ = t.check() // a success that comes after the deadline must not hide that it has passed
	if sent.Since(*t.renewed.Load()) > 0 {
		t.renewed.Store(&sent)
	}
}

// termContext is the context of a term's work.
type termContext struct {
	context.Context // the term's
	t               *term
}

// Err looks at the clocks, because timers fire late in a process that was frozen.
func (c termContext) Err() error {
	_ = c.t.check()
	return c.Context.Err()
}

// Value looks at the clocks too: a context that is being derived comes this way, and so
// has ended if this one has.
func (c termContext) Value(key any) any {
	if key == (termKey{}) {
		return Term{c.t}
	}
	_ = c.t.check()
	return c.Context.Value(key)
}
