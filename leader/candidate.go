package leader

import (
	"context"
	"errors"
	"sync"
	"time"
)

// candidate is the state of one Run. It belongs to the goroutine of Run, and its
// methods run there: campaign, lead and stepDown are the states of the elector. What
// others may read is in the Elector.
type candidate struct {
	*Elector

	short       int            // how many terms in a row ended as soon as they had begun
	explained   bool           // the log says that work must not return early
	foreign     string         // the type of a key that is no lock, but in its place; otherwise ""
	errors      errorLog       // of Redis, since it last answered
	tokenErrors errorLog       // of fencing tokens, since one was last usable
	calls       sync.WaitGroup // calls to Redis under way
	wait        wait
}

func newCandidate(e *Elector) *candidate {
	return &candidate{
		Elector:     e,
		errors:      errorLog{logger: e.cfg.Logger, over: "Redis answers again"},
		tokenErrors: errorLog{logger: e.cfg.Logger, over: "The fencing token is usable again"},
		wait:        wait{locker: e.locker, key: e.key, logger: e.cfg.Logger},
	}
}

// run goes through the states: candidate, leading, draining, and candidate again. It
// returns nil when ctx has ended, and ErrDrainTimeout when work was left behind.
func (c *candidate) run(ctx context.Context) error {
	pause := c.locker.Stagger() // not in the same moment as all others in this process
	for {
		l := c.campaign(ctx, pause)
		if l == nil {
			return nil
		}
		reason := c.lead(ctx, l)
		if err := c.stepDown(l, reason); err != nil {
			return err
		}
		pause = c.pauseAfter(l.term, reason)
	}
}

// join waits for what run has started: calls to Redis, which end with the client's own
// timeouts at the latest, and the connection for announcements.
func (c *candidate) join() {
	c.calls.Wait()
	c.wait.join()
}

// pauseAfter is how long to wait after a term before competing again.
func (c *candidate) pauseAfter(t *term, reason error) time.Duration {
	if t.begun.Load() && time.Since(t.startedAt) >= c.timing.lease {
		c.short = 0
	}
	switch {
	case errors.Is(reason, ErrReturned), errors.Is(reason, ErrFailed), errors.Is(reason, errNoToken):
		c.short++
		return c.timing.backOff(c.short)
	case errors.Is(reason, ErrResigned):
		return c.timing.standAside()
	default:
		return c.timing.recontend()
	}
}

// sawToken notes a fencing token. Those of this candidate's later terms will be higher.
func (c *candidate) sawToken(token int64) {
	c.highest.Store(max(c.highest.Load(), token))
}

// leadership is one period of holding the lock, from its acquisition to its release. It
// belongs to the goroutine of Run; each part guards what others may see of it.
type leadership struct {
	term    *term
	renewal *renewal
	work    *work
}
