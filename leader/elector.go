package leader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// Elector is one candidate in one election. Its methods are safe for use by many
// goroutines.
type Elector struct {
	// What New has set, which does not change.
	cfg      Config
	timing   timing
	locker   locker
	key      string // of the lock
	fenceKey string // of the counter of fencing tokens
	record   string // the leader record of this candidate
	now      func() clock.Instant

	// What any goroutine may read. The goroutine of Run writes it.
	running   atomic.Bool
	leading   atomic.Pointer[term]        // the term in which this candidate leads
	held      atomic.Pointer[term]        // the term whose lock it holds: draining included
	observed  atomic.Pointer[observation] // who held the lock when this candidate last looked
	history   history                     // its own terms
	highest   atomic.Int64                // fencing token seen
	abandoned atomic.Pointer[work]        // left running by a Run that returned ErrDrainTimeout

	notifier notifier
	panics   panics
}

// New returns a candidate that competes once Run is called. The error joins everything
// that is wrong with cfg and locker, each with the field and its value. Nothing is sent
// to Redis.
func New(locker *redislock.Client, cfg Config) (*Elector, error) {
	if err := errors.Join(validateLocker(locker), cfg.validate()); err != nil {
		return nil, err
	}
	return newElector(redisLocker{locker}, cfg.withDefaults(), clock.Now), nil
}

func validateLocker(locker *redislock.Client) error {
	if locker == nil {
		return errors.New("leader: locker is nil")
	}
	if err := locker.Check(); err != nil {
		return fmt.Errorf("leader: locker: %w", err)
	}
	return nil
}

func newElector(l locker, cfg Config, now func() clock.Instant) *Elector {
	cfg.Metadata = maps.Clone(cfg.Metadata)
	cfg.Logger = cfg.Logger.WithValues("name", cfg.Name, "identity", cfg.Identity)
	e := &Elector{
		cfg:      cfg,
		timing:   newTiming(cfg),
		locker:   l,
		key:      LockKey(cfg.KeyPrefix, cfg.Name),
		fenceKey: FenceKey(cfg.KeyPrefix, cfg.Name),
		record:   leaderRecord{cfg.Identity, cfg.Metadata}.encode(),
		now:      now,
	}
	e.panics.logger = cfg.Logger
	e.notifier.handler, e.notifier.panics = cfg.Callbacks.OnNewLeader, &e.panics
	cfg.Observer.ElectorCreated(cfg.Name, e)
	return e
}

// Run is a shortcut for New and Elector.Run.
func Run(ctx context.Context, locker *redislock.Client, cfg Config) error {
	e, err := New(locker, cfg)
	if err != nil {
		return err
	}
	return e.Run(ctx)
}

// Run competes, leads and, after each term, competes again until ctx ends. Then it
// steps down if it leads, and returns nil when all that it started has ended:
// callbacks, calls to Redis, goroutines. It may be called again afterwards. Electors
// that begin at the same time on one redislock.Client make their first attempts 100 µs
// apart.
//
// It returns ErrAlreadyRunning if another Run of this Elector has not ended, and
// ErrDrainTimeout if a callback does not return; the program should exit then. Trouble
// with Redis is logged and retried, never returned. A panic in a callback continues
// from Run, after the step-down.
func (e *Elector) Run(ctx context.Context) error {
	if !e.running.CompareAndSwap(false, true) {
		return ErrAlreadyRunning
	}
	defer e.running.Store(false)
	if w := e.abandoned.Load(); w != nil && !closed(w.stopped) {
		return ErrAlreadyRunning
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.panics.start(cancel)

	c := newCandidate(e)
	err := c.run(ctx)
	c.join()
	if err == nil {
		err = e.notifier.join(e.cfg.DrainTimeout)
	}
	e.panics.resume()
	return err
}

// IsLeader reports whether this candidate leads, by the clocks at the time of the call.
// It does no I/O and costs less than a microsecond.
func (e *Elector) IsLeader() bool {
	t := e.leading.Load()
	return t != nil && t.check() == nil
}

// Term returns the term in which this candidate leads, and false if it does not.
func (e *Elector) Term() (Term, bool) {
	t := e.leading.Load()
	if t == nil || t.check() != nil {
		return Term{}, false
	}
	return Term{t}, true
}

// Check fails if this candidate's term was due to end more than
// maxTolerableExpiredLease ago and it has not begun to step down: then the process
// hangs and should be restarted. A LeaseDuration is a good value. Candidates that do
// not lead are healthy. Check looks at the clocks alone and never waits for the
// elector.
func (e *Elector) Check(maxTolerableExpiredLease time.Duration) error {
	if late := e.overdue(); late > maxTolerableExpiredLease {
		return fmt.Errorf("leader: %q: the term of %q ended %v ago and was not stepped down from", e.cfg.Name, e.cfg.Identity, late.Round(time.Millisecond))
	}
	return nil
}

// overdue is how long ago the term of this candidate was due to end, if it has not
// begun to step down, and otherwise 0 or less. How long the step-down may take is for
// DrainTimeout.
func (e *Elector) overdue() time.Duration {
	t := e.leading.Load()
	if t == nil {
		return 0
	}
	return -t.remaining(e.now())
}

// Resign makes a leader step down and stay out for at least two RetryPeriods, so that
// another candidate can lead. It returns when the step-down is complete, with
// ErrDrainTimeout if that is how it ended. If ctx ends first, it returns the error of
// ctx, and the step-down goes on. It returns nil at once if this candidate does not
// hold the lock. OnStartedLeading must not wait for Resign, because the step-down waits
// for OnStartedLeading; it can call Term.Fail instead.
func (e *Elector) Resign(ctx context.Context) error {
	return e.resign(ctx, e.held.Load())
}

// ResignTerm is Resign for the term with that fencing token and no other. If that term
// is over, it does nothing and returns nil, so a request that arrives late does not end
// a later term.
func (e *Elector) ResignTerm(ctx context.Context, fenceToken int64) error {
	t := e.held.Load()
	if t == nil || t.fence.Load() != fenceToken {
		return nil
	}
	return e.resign(ctx, t)
}

func (e *Elector) resign(ctx context.Context, t *term) error {
	if t == nil {
		return nil
	}
	t.resignation.request()
	return t.resignation.wait(ctx)
}

// RequestResign asks the leader of an election to resign. It works on any machine that
// can reach its Redis. key is the LockKey of the election, and fenceToken the leader's
// fencing token, as Elector.Leader shows it. The leader reads the request with its next
// renewal, at most a third of its LeaseDuration later, and steps down as after
// Elector.Resign. RequestResign does not wait for that. The error matches
// redislock.ErrLockNotHeld if that term is over.
func RequestResign(ctx context.Context, locker *redislock.Client, key string, fenceToken int64) error {
	if err := validateLocker(locker); err != nil {
		return err
	}
	return locker.RequestRelease(ctx, key, fenceToken)
}
