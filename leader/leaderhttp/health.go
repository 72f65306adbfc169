package leaderhttp

import (
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// HealthzHandler serves the health of electors, for a liveness probe. It answers 200 and
// "ok" or, if leader.Elector.Check fails for any of them, 503 and the reasons. Candidates
// that do not lead are healthy, and so are all while Redis is out of reach: a restart would
// not help. If the elector does not exist yet, use HealthzAdaptor.
func HealthzHandler(maxTolerableExpiredLease time.Duration, electors ...*leader.Elector) http.Handler {
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
		_, _ = io.WriteString(w, "ok\n") // it fails only if the client has gone away
	})
}
