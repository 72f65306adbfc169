package leader

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// askStatus asks a StatusHandler.
func askStatus(t *testing.T, handler http.Handler) []map[string]any {
	t.Helper()
	reply := httptest.NewRecorder()
	handler.ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/leader", nil))
	var all []map[string]any
	if err := json.Unmarshal(reply.Body.Bytes(), &all); err != nil || reply.Code != http.StatusOK {
		t.Errorf("%d %q: %v", reply.Code, reply.Body, err)
	}
	if kind := reply.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	return all
}

func TestStatusInEveryState(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
		})
		b := newReplica(t, server, "b", nil)
		handler := StatusHandler(a.Elector, b.Elector)
		expect := func(when string, want ...map[string]any) {
			t.Helper()
			synctest.Wait()
			for i, got := range askStatus(t, handler) {
				identity := []string{"a", "b"}[i]
				want[i]["name"], want[i]["identity"] = "test", identity
				if left, ok := got["remainingSeconds"].(float64); ok {
					got["remainingSeconds"] = math.Round(left*100) / 100
				}
				if !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%s: %s is\n%v, want\n%v", when, identity, got, want[i])
				}
			}
		}
		is := func(state, leader, fence string, remaining float64) map[string]any {
			return map[string]any{"state": state, "leader": leader, "fenceToken": fence, "remainingSeconds": remaining}
		}
		expect("at first", is("stopped", "", "", 0), is("stopped", "", "", 0))
		a.start(t)
		synctest.Wait()
		b.start(t)
		expect("a leads", is("leading", "a", "1", 1), is("candidate", "a", "1", 0))
		time.Sleep(100 * time.Millisecond)
		expect("a leads on", is("leading", "a", "1", 0.9), is("candidate", "a", "1", 0))
		a.stop()
		expect("a drains", is("draining", "", "", 0), is("candidate", "a", "1", 0))
		close(finish)
		await(t, testLease, "b leads", b.IsLeader)
		expect("b leads", is("stopped", "", "", 0), is("leading", "b", "2", 1))
		b.join()
		expect("at last", is("stopped", "", "", 0), is("stopped", "", "", 0))
	})
}

func TestStatusBeforeTheTermBegins(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { time.Sleep(time.Second); return 9, nil }
		}).start(t)
		synctest.Wait()
		if got := askStatus(t, StatusHandler(a.Elector))[0]["state"]; got != "candidate" || !a.holds() {
			t.Errorf("state %v while the resource is asked, holds the lock %t", got, a.holds())
		}
	})
}

func TestStatusOfNoElectorIsAnEmptyArray(t *testing.T) {
	reply := httptest.NewRecorder()
	StatusHandler().ServeHTTP(reply, httptest.NewRequest(http.MethodGet, "/", nil))
	if got := strings.TrimSpace(reply.Body.String()); got != "[]" {
		t.Errorf("body %q", got)
	}
}

func TestHealthzAdaptor(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
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
		frozen, thaw := make(chan struct{}, 1), make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) { cfg.Observer = &freezer{recorder{r: r}, frozen, thaw} })
		b := newReplica(t, server, "b", nil)
		health.SetLeaderElection(a.Elector)
		healthy("before Run")
		a.start(t)
		healthy("as leader")
		time.Sleep(a.timing.deadline + time.Second)
		healthy("wedged, at the edge of what is tolerated")
		time.Sleep(time.Millisecond)
		if err := health.Check(nil); err == nil || !strings.Contains(err.Error(), `"test"`) || !strings.Contains(err.Error(), "1.001s") {
			t.Errorf("wedged: Check = %v, want the name and how long", err)
		}
		b.start(t)
		health.SetLeaderElection(b.Elector)
		healthy("as candidate")
		close(thaw)
		health.SetLeaderElection(a.Elector)
		healthy("unwedged")
		if err := a.lastTerm().Check(); !errors.Is(err, ErrExpired) {
			t.Errorf("the term ended with %v", err)
		}
	})
}

// Work that is slow to stop does not make its process unhealthy while the lease is
// renewed.
func TestDrainingIsHealthy(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done(); time.Sleep(2 * testLease) }
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		a.stop()
		for !closed(a.done) {
			if err := a.Check(0); err != nil {
				t.Fatalf("Check = %v", err)
			}
			time.Sleep(testLease / 10)
		}
	})
}

func TestLeaderHandler(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
		})
		b := newReplica(t, server, "b", nil)
		expect := func(when string, r *replica, code int, state, leader string) {
			t.Helper()
			synctest.Wait()
			reply := accept(LeaderHandler(r.Elector), "", "/leader")
			var all []status
			if err := json.Unmarshal(reply.Body.Bytes(), &all); err != nil || len(all) != 1 {
				t.Fatalf("%q: %v", reply.Body, err)
			}
			if reply.Code != code || all[0].State != state || all[0].Leader != leader {
				t.Errorf("%s: %s answers %d %+v", when, r.cfg.Identity, reply.Code, all)
			}
			if page := accept(LeaderHandler(r.Elector), browserAccepts, "/leader"); page.Code != code || !strings.Contains(page.Body.String(), "<main>") {
				t.Errorf("%s: %s shows a browser %d %s", when, r.cfg.Identity, page.Code, page.Body)
			}
		}
		expect("at first", a, 503, "stopped", "")
		a.start(t)
		synctest.Wait()
		b.start(t)
		expect("a leads", a, 200, "leading", "a")
		expect("a leads", b, 503, "candidate", "a")
		a.stop()
		expect("a drains", a, 503, "draining", "")
		close(finish)
		await(t, testLease, "b leads", b.IsLeader)
		expect("b leads", b, 200, "leading", "b")
		server.setFault(func(string) memFault { return memFault{before: time.Hour, err: errDown} })
		b.suspend(b.timing.deadline) // nothing has run yet that could have noticed
		if reply := accept(LeaderHandler(b.Elector), "", "/leader"); reply.Code != 503 {
			t.Errorf("after its deadline b answers %d", reply.Code)
		}
	})
}

func TestHealthzHandler(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		thaw := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) { cfg.Observer = &freezer{recorder{r: r}, nil, thaw} })
		b := newReplica(t, server, "b", nil)
		expect := func(when string, handler http.Handler, code int, body string) {
			t.Helper()
			synctest.Wait()
			reply := accept(handler, "", "/healthz")
			if reply.Code != code || strings.TrimSpace(reply.Body.String()) != body || reply.Header().Get("Content-Type") != "text/plain; charset=utf-8" || reply.Header().Get("Cache-Control") != "no-store" {
				t.Errorf("%s: %d %q %v", when, reply.Code, reply.Body, reply.Header())
			}
		}
		both := HealthzHandler(time.Second, a.Elector, b.Elector)
		expect("of none", HealthzHandler(time.Second), 200, "ok")
		expect("at first", both, 200, "ok")
		a.start(t)
		expect("a leads", both, 200, "ok")
		time.Sleep(a.timing.deadline + time.Second)
		expect("wedged, at the edge of what is tolerated", both, 200, "ok")
		time.Sleep(time.Millisecond)
		expect("wedged", both, 503, `leader: "test": the term of "a" ended 1.001s ago and was not stepped down from`)
		b.start(t)
		await(t, testLease, "b leads", b.IsLeader)
		expect("b alone", HealthzHandler(time.Second, b.Elector), 200, "ok")
		close(thaw)
		expect("unwedged", both, 200, "ok")
		b.join()
		server.setFault(func(string) memFault { return memFault{err: errDown} })
		time.Sleep(time.Minute)
		expect("a candidate without Redis", both, 200, "ok")
	})
}
