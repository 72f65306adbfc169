package leader

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock"
)

// Elector is one candidate in the election for one name. Its methods are safe for use
// by many goroutines.
type Elector struct {
	cfg    Config
	timing timing
	locker locker
	key    string
	card   string // what this candidate writes beside its lock
	now    func() clock.Instant

	running  atomic.Bool
	leading  atomic.Pointer[term]        // the term in which this candidate leads
	held     atomic.Pointer[term]        // the same from its acquisition to its release, draining included
	observed atomic.Pointer[observation] // who held the lock when this candidate last looked
	history  history                     // of its own terms

	calls    sync.WaitGroup // calls to Redis under way
	notifier notifier
	panics   panics

	// Of the goroutine of Run alone:
	seen         int64   // the highest fencing token seen
	short        int     // how many terms in a row ended as soon as they had begun
	left         *term   // a term whose callbacks were left running
	foreign      string  // what type stands in the place of the lock; "" if none does
	trouble      trouble // errors since Redis last answered
	fenceTrouble trouble // errors since a fencing token was last settled
	denied       bool    // announcements are, and it has been said
	vigil        vigil
}

// New returns a candidate that competes once Run is called. The error joins everything
// that is wrong with cfg and locker, each with the field and its value; nothing is sent
// to Redis.
func New(locker *redislock.Client, cfg Config) (*Elector, error) {
	cfg = cfg.withDefaults()
	if err := errors.Join(validateLocker(locker), cfg.validate()); err != nil {
		return nil, err
	}
	return newElector(redisLocker{locker}, cfg, clock.Now), nil
}

// validateLocker asks the lock itself, under a context that has ended: it then checks
// its client and goes no further.
func validateLocker(locker *redislock.Client) error {
	if locker == nil {
		return errors.New("leader: locker is nil")
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := locker.Obtain(ended, "key", time.Second, nil); errors.Is(err, redislock.ErrUnsupportedClient) {
		return fmt.Errorf("leader: locker: %w", err)
	}
	return nil
}

func newElector(l locker, cfg Config, now func() clock.Instant) *Elector {
	e := &Elector{
		cfg:    cfg,
		timing: newTiming(cfg),
		locker: l,
		key:    lockKey(cfg.KeyPrefix, cfg.Name),
		card:   card{cfg.Identity, cfg.Metadata}.encode(),
		now:    now,
	}
	e.cfg.Metadata = maps.Clone(cfg.Metadata)
	e.cfg.Logger = cfg.Logger.WithValues("name", cfg.Name, "identity", cfg.Identity)
	e.trouble = trouble{logger: e.cfg.Logger, over: "Redis answers again"}
	e.fenceTrouble = trouble{logger: e.cfg.Logger, over: "The fencing token is settled again"}
	e.vigil.e = e
	e.panics.logger = e.cfg.Logger
	e.notifier.handler, e.notifier.panics = cfg.Callbacks.OnNewLeader, &e.panics
	e.cfg.Observer.ElectorCreated(cfg.Name, e)
	return e
}

// Run is a short cut for New and Elector.Run.
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
// It returns ErrAlreadyRunning when called twice at a time, and ErrDrainTimeout when a
// callback does not return; the program should exit then. Trouble with Redis is logged
// and retried, never returned. A panic in a callback continues from Run, after the
// step-down.
func (e *Elector) Run(ctx context.Context) error {
	if !e.running.CompareAndSwap(false, true) {
		return ErrAlreadyRunning
	}
	defer e.running.Store(false)
	if e.left != nil && !closed(e.left.work.stopped) {
		return ErrAlreadyRunning
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	e.panics.start(cancel)

	err := e.campaignAndLead(ctx)
	e.calls.Wait() // they end by the client's own timeouts at the latest
	e.vigil.join()
	if err == nil {
		err = e.notifier.join(e.cfg.DrainTimeout)
	}
	e.panics.resume()
	return err
}

// campaignAndLead is the life of a candidate: candidate, leading, draining, candidate.
func (e *Elector) campaignAndLead(ctx context.Context) error {
	pause := e.locker.Stagger() // not in the same moment as all others in this process
	for {
		t := e.campaign(ctx, pause)
		if t == nil {
			return nil
		}
		reason := e.lead(ctx, t)
		if err := e.stepDown(t, reason); err != nil {
			return err
		}
		pause = e.pauseAfter(t, reason)
	}
}

// pauseAfter is how long to stay out after a term.
func (e *Elector) pauseAfter(t *term, reason error) time.Duration {
	if t.began() && time.Since(t.startedAt) >= e.timing.lease {
		e.short = 0
	}
	switch {
	case errors.Is(reason, ErrResigned):
		return e.timing.standAside()
	case errors.Is(reason, errReturned), errors.Is(reason, errFence):
		e.short++
		return e.timing.backOff(e.short)
	default:
		return e.timing.recontend()
	}
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

// Resign makes a leader step down and stay out for at least two RetryPeriods, so that
// another candidate can lead. It returns when the step-down is complete, with
// ErrDrainTimeout if that is how it ended, or when ctx ends, with its error; the
// step-down goes on then. It returns nil at once if this candidate does not hold the
// lock. OnStartedLeading should return rather than call it, since the step-down waits
// for OnStartedLeading.
func (e *Elector) Resign(ctx context.Context) error {
	t := e.held.Load()
	if t == nil {
		return nil
	}
	t.resignOnce.Do(func() { close(t.resigning) })
	select {
	case <-t.over:
		return t.outcome
	case <-ctx.Done():
		return ctx.Err()
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
