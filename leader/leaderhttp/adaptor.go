package leaderhttp

import (
	"net/http"
	"sync/atomic"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// HealthzAdaptor lets a health endpoint report on an Elector that is made later. Its
// methods are safe for use by many goroutines.
type HealthzAdaptor struct {
	timeout time.Duration
	elector atomic.Pointer[leader.Elector]
}

// NewHealthzAdaptor returns an adaptor that is healthy until an elector is set. timeout is
// how long its term may be overdue; see leader.Elector.Check.
func NewHealthzAdaptor(timeout time.Duration) *HealthzAdaptor {
	return &HealthzAdaptor{timeout: timeout}
}

// Name returns the name of the check, "leaderElection" as in client-go.
func (h *HealthzAdaptor) Name() string { return "leaderElection" }

// SetLeaderElection sets the elector that Check reports on.
func (h *HealthzAdaptor) SetLeaderElection(e *leader.Elector) { h.elector.Store(e) }

// Check is leader.Elector.Check with the adaptor's timeout. It ignores the request.
func (h *HealthzAdaptor) Check(*http.Request) error {
	e := h.elector.Load()
	if e == nil {
		return nil
	}
	return e.Check(h.timeout)
}
