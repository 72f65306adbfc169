package leader_test

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leaderhttp"
	"github.com/redisleader/redisleader/redislock"
)

// For the race detector: the handlers read electors that change all the time.
func TestC7_HandlersUnderChurn(t *testing.T) {
	t.Parallel()
	const lease = 300 * time.Millisecond
	client := redistest.Start(t).Client(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*lease)
	defer cancel()
	health := leaderhttp.NewHealthzAdaptor(time.Hour)
	var electors [2]*leader.Elector
	var goroutines sync.WaitGroup
	for i := range electors {
		e, err := leader.New(redislock.New(client), leader.Config{
			Name:          "test",
			LeaseDuration: lease,
			Logger:        logr.FromSlogHandler(slog.DiscardHandler),
			Callbacks:     leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) { <-ctx.Done() }},
		})
		if err != nil {
			t.Fatal(err)
		}
		electors[i] = e
		goroutines.Go(func() {
			if err := e.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		goroutines.Go(func() {
			for ctx.Err() == nil {
				health.SetLeaderElection(e)
				_ = e.Resign(ctx)
				time.Sleep(20 * time.Millisecond)
			}
		})
	}
	for _, handler := range []http.Handler{
		leaderhttp.StatusHandler(electors[:]...),
		leaderhttp.LeaderHandler(electors[0]),
		leaderhttp.HealthzHandler(time.Hour, electors[:]...),
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if err := health.Check(r); err != nil {
				t.Error(err)
			}
		}),
	} {
		goroutines.Go(func() {
			for ctx.Err() == nil {
				reply := httptest.NewRecorder()
				handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/", nil))
				if reply.Code >= http.StatusInternalServerError && reply.Code != http.StatusServiceUnavailable {
					t.Errorf("%d %s", reply.Code, reply.Body)
				}
				time.Sleep(100 * time.Microsecond)
			}
		})
	}
	goroutines.Wait()
	if terms := len(electors[0].Status().LastTerms) + len(electors[1].Status().LastTerms); terms < 3 {
		t.Errorf("%d terms are no churn", terms)
	}
}
