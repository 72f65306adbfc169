package leaderhttp

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/leader"
)

func TestHealthzAdaptor(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		health := NewHealthzAdaptor(time.Second)
		healthy := func(when string) {
			t.Helper()
			synctest.Wait()
			if err := health.Check(httptest.NewRequest(http.MethodGet, "/healthz", nil)); err != nil {
				t.Errorf("%s: Check = %v", when, err)
			}
		}
		if health.Name() != "leaderElection" {
			t.Errorf("Name = %q", health.Name())
		}
		healthy("without an elector")
		thaw := make(chan struct{})
		a := newCandidate(t, s, "a", untilThaw(thaw))
		b := newCandidate(t, s, "b", nil)
		health.SetLeaderElection(a.Elector)
		healthy("before Run")
		a.start(t)
		healthy("as leader")
		term, _ := a.Term()
		sleepToTheEnd(a, func() { healthy("stuck, and still leading") })
		time.Sleep(time.Second)
		healthy("stuck, at the edge of what is tolerated")
		time.Sleep(time.Millisecond)
		if err := health.Check(nil); err == nil || !strings.Contains(err.Error(), `"test"`) || !strings.Contains(err.Error(), "1.001s") {
			t.Errorf("stuck: Check = %v, want the name and how long", err)
		}
		b.start(t)
		health.SetLeaderElection(b.Elector)
		healthy("as candidate")
		close(thaw)
		health.SetLeaderElection(a.Elector)
		healthy("no longer stuck")
		if err := term.Check(); !errors.Is(err, leader.ErrExpired) {
			t.Errorf("the term ended with %v", err)
		}
	})
}

func TestHealthzHandler(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		thaw := make(chan struct{})
		a := newCandidate(t, s, "a", untilThaw(thaw))
		b := newCandidate(t, s, "b", nil)
		expect := func(when string, handler http.Handler, code int, body string) {
			t.Helper()
			synctest.Wait()
			reply := get(handler, "", "/healthz")
			if reply.Code != code || strings.TrimSpace(reply.Body.String()) != body || reply.Header().Get("Content-Type") != "text/plain; charset=utf-8" || reply.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %q %v", when, reply.Code, reply.Body, reply.Header())
			}
		}
		both := HealthzHandler(time.Second, a.Elector, b.Elector)
		expect("of none", HealthzHandler(time.Second), 200, "ok")
		expect("at first", both, 200, "ok")
		a.start(t)
		expect("a leads", both, 200, "ok")
		sleepToTheEnd(a, func() { expect("stuck, and still leading", both, 200, "ok") })
		time.Sleep(time.Second)
		expect("stuck, at the edge of what is tolerated", both, 200, "ok")
		time.Sleep(time.Millisecond)
		expect("stuck", both, 503, `leader: "test": the term of "a" ended 1.001s ago and was not stepped down from`)
		b.start(t)
		await(t, lease, "b leads", b.IsLeader)
		expect("b alone", HealthzHandler(time.Second, b.Elector), 200, "ok")
		close(thaw)
		expect("no longer stuck", both, 200, "ok")
		b.stop()
		s.Fail(errors.New("connection refused"))
		time.Sleep(time.Minute)
		expect("a candidate without Redis", both, 200, "ok")
	})
}

// Work that is slow to stop does not make its process unhealthy while the lease is
// renewed.
func TestDrainingIsHealthy(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		a := newCandidate(t, s, "a", func(cfg *leader.Config) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ leader.Term) { <-ctx.Done(); time.Sleep(2 * lease) }
		}).start(t)
		if !a.IsLeader() {
			t.Fatal("a does not lead")
		}
		a.cancel()
		checks, healthz := 0, HealthzHandler(0, a.Elector)
		for synctest.Wait(); a.Status().State != leader.StateStopped; checks++ {
			if err := a.Check(0); err != nil {
				t.Fatalf("Check = %v", err)
			}
			if reply := get(healthz, "", "/healthz"); reply.Code != http.StatusOK {
				t.Fatalf("%d %s", reply.Code, reply.Body)
			}
			time.Sleep(lease / 10)
			synctest.Wait()
		}
		if checks < 20 {
			t.Errorf("%d checks while it drains", checks)
		}
	})
}
