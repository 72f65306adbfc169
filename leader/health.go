package leader

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"
	"time"
)

// Check fails if this candidate holds the lock and its term was due to end more than
// maxTolerableExpiredLease ago, yet it has neither renewed it nor stepped down: then
// the process hangs and should be restarted. Candidates that do not lead are healthy.
// It looks at the clocks alone and never waits for the elector.
func (e *Elector) Check(maxTolerableExpiredLease time.Duration) error {
	t := e.leading.Load()
	if t == nil {
		return nil // not a leader, or already stepping down: DrainTimeout bounds that
	}
	if late := -t.remaining(e.now()); late > maxTolerableExpiredLease {
		return fmt.Errorf("leader: %q: the term of %q ended %v ago and was not stepped down from", e.cfg.Name, e.cfg.Identity, late.Round(time.Millisecond))
	}
	return nil
}

// HealthzAdaptor makes the health of an Elector available to a health endpoint, before
// the Elector exists. Its methods are safe for use by many goroutines.
type HealthzAdaptor struct {
	timeout time.Duration
	elector atomic.Pointer[Elector]
}

// NewHealthzAdaptor returns an adaptor that is healthy until an elector is set. For
// timeout see Elector.Check.
func NewHealthzAdaptor(timeout time.Duration) *HealthzAdaptor {
	return &HealthzAdaptor{timeout: timeout}
}

// Name is the name of the check, as in client-go: "leaderElection".
func (h *HealthzAdaptor) Name() string { return "leaderElection" }

// SetLeaderElection sets the elector whose health counts.
func (h *HealthzAdaptor) SetLeaderElection(e *Elector) { h.elector.Store(e) }

// Check is Elector.Check with the adaptor's timeout. It does not look at the request.
func (h *HealthzAdaptor) Check(*http.Request) error {
	e := h.elector.Load()
	if e == nil {
		return nil
	}
	return e.Check(h.timeout)
}

// HealthzHandler serves the health of electors, for a liveness probe: 503 with the
// reason of each elector whose Check fails with maxTolerableExpiredLease, otherwise 200
// and "ok". Followers are healthy, and so is everybody while Redis is away: neither is
// helped by a restart. Use HealthzAdaptor if the elector does not exist yet.
func HealthzHandler(maxTolerableExpiredLease time.Duration, electors ...*Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		var errs []error
		for _, e := range electors {
			errs = append(errs, e.Check(maxTolerableExpiredLease))
		}
		w.Header().Set("Cache-Control", "no-store")
		if err := errors.Join(errs...); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = io.WriteString(w, "ok\n") // an error is the reader's: it has gone away
	})
}
