package leaderhttp

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
)

// getStatus asks a StatusHandler for JSON.
func getStatus(t *testing.T, handler http.Handler) []map[string]any {
	t.Helper()
	reply := get(handler, "", "/leader")
	var all []map[string]any
	if err := json.Unmarshal(reply.Body.Bytes(), &all); err != nil || reply.Code != http.StatusOK {
		t.Errorf("%d %q: %v", reply.Code, reply.Body, err)
	}
	if kind := reply.Header().Get("Content-Type"); kind != "application/json" {
		t.Errorf("Content-Type %q", kind)
	}
	return all
}

// token is the fencing token of a candidate that leads, as text.
func token(c *candidate) string {
	term, _ := c.Term()
	return strconv.FormatInt(term.FenceToken(), 10)
}

func TestStatusInEveryState(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		finish := make(chan struct{})
		a := newCandidate(t, s, "a", untilFinished(finish))
		b := newCandidate(t, s, "b", nil)
		handler := StatusHandler(a.Elector, b.Elector)
		expect := func(when string, want ...map[string]any) {
			t.Helper()
			synctest.Wait()
			for i, got := range getStatus(t, handler) {
				identity := []string{"a", "b"}[i]
				want[i]["name"], want[i]["identity"] = "test", identity
				if left, ok := got["remainingSeconds"].(float64); ok {
					got["remainingSeconds"] = math.Round(left*10) / 10 // real time counts a little
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
		const first = "946684800000000" // midnight of 2000-01-01
		b.start(t)
		expect("a leads", is("leading", "a", first, 1), is("candidate", "a", first, 0))
		time.Sleep(100 * time.Millisecond)
		expect("a leads on", is("leading", "a", first, 0.9), is("candidate", "a", first, 0))
		a.cancel()
		expect("a drains", is("draining", "", "", 0), is("candidate", "a", first, 0))
		close(finish)
		await(t, lease, "b leads", b.IsLeader)
		if token(b) <= first {
			t.Errorf("token %s follows %s", token(b), first)
		}
		expect("b leads", is("stopped", "", "", 0), is("leading", "b", token(b), 1))
		b.stop()
		expect("at last", is("stopped", "", "", 0), is("stopped", "", "", 0))
	})
}

func TestStatusBeforeTheTermBegins(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		a := newCandidate(t, s, "a", func(cfg *leader.Config) {
			cfg.FenceFloor = func(context.Context) (int64, error) { time.Sleep(time.Second); return 9, nil }
		}).start(t)
		_, held := s.Holder(leader.LockKey("", "test"))
		if got := getStatus(t, StatusHandler(a.Elector))[0]["state"]; got != "candidate" || !held {
			t.Errorf("state %v while the resource is asked, holds the lock %t", got, held)
		}
	})
}

func TestStatusOfNoElectorIsAnEmptyArray(t *testing.T) {
	if got := strings.TrimSpace(get(StatusHandler(), "", "/").Body.String()); got != "[]" {
		t.Errorf("body %q", got)
	}
}

func TestLeaderHandler(t *testing.T) {
	bubble(t, func(t *testing.T, s *server) {
		finish := make(chan struct{})
		a := newCandidate(t, s, "a", untilFinished(finish))
		b := newCandidate(t, s, "b", nil)
		expect := func(when string, c *candidate, code int, state leader.State, leader string) {
			t.Helper()
			synctest.Wait()
			reply := get(LeaderHandler(c.Elector), "", "/leader")
			var all []status
			if err := json.Unmarshal(reply.Body.Bytes(), &all); err != nil || len(all) != 1 {
				t.Fatalf("%q: %v", reply.Body, err)
			}
			if reply.Code != code || all[0].State != state || all[0].Leader != leader {
				t.Errorf("%s: %s answers %d %+v", when, c.identity, reply.Code, all)
			}
			if page := get(LeaderHandler(c.Elector), browserAccepts, "/leader"); page.Code != code || !strings.Contains(page.Body.String(), "<main>") {
				t.Errorf("%s: %s shows a browser %d %s", when, c.identity, page.Code, page.Body)
			}
		}
		expect("at first", a, 503, "stopped", "")
		a.start(t)
		b.start(t)
		expect("a leads", a, 200, "leading", "a")
		expect("a leads", b, 503, "candidate", "a")
		a.cancel()
		expect("a drains", a, 503, "draining", "")
		close(finish)
		await(t, lease, "b leads", b.IsLeader)
		expect("b leads", b, 200, "leading", "b")
	})
}

// The handler looks at the clocks itself: it does not wait for an elector that hangs, or
// whose Redis does, to notice the end of the term.
func TestLeaderHandlerLooksAtTheClocks(t *testing.T) {
	for name, stop := range map[string]func(*server, chan struct{}){
		"the elector hangs": func(*server, chan struct{}) {},
		"Redis hangs":       func(s *server, thaw chan struct{}) { close(thaw); s.hang() },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, s *server) {
				thaw := make(chan struct{})
				a := newCandidate(t, s, "a", untilThaw(thaw)).start(t)
				stop(s, thaw)
				sleepToTheEnd(a, func() {
					if code := get(LeaderHandler(a.Elector), "", "/").Code; code != http.StatusOK {
						t.Errorf("%d while it leads", code)
					}
				})
				// At the very instant: other goroutines may not have run yet.
				if code := get(LeaderHandler(a.Elector), "", "/").Code; code != http.StatusServiceUnavailable {
					t.Errorf("%d at the deadline", code)
				}
				if name == "the elector hangs" {
					close(thaw)
				}
			})
		})
	}
}

// For the race detector: handlers answer while leaders change. It takes real time, since
// pages take too long to make for a lease in a bubble.
func TestC7_HandlersUnderChurn(t *testing.T) {
	t.Parallel()
	s := &server{Server: leadertest.NewServer()}
	quick := func(cfg *leader.Config) { cfg.LeaseDuration = 300 * time.Millisecond }
	a, b := newCandidate(t, s, "a", quick), newCandidate(t, s, "b", quick)
	all, health := StatusHandler(a.Elector, b.Elector), NewHealthzAdaptor(time.Hour)
	healthz := HealthzHandler(time.Hour, a.Elector, b.Elector)
	ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
	defer cancel()
	var group sync.WaitGroup
	for _, c := range []*candidate{a, b} {
		group.Go(func() {
			if err := c.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		group.Go(func() {
			for leader.Sleep(ctx, time.Millisecond) == nil {
				health.SetLeaderElection(c.Elector)
				if err := health.Check(nil); err != nil {
					t.Error(err)
				}
				getStatus(t, all)
				readPage(t, all)
				reply := get(LeaderHandler(c.Elector), "", "/")
				if reply.Code != http.StatusOK && reply.Code != http.StatusServiceUnavailable {
					t.Errorf("%d %s", reply.Code, reply.Body)
				}
				if reply := get(healthz, "", "/"); reply.Code != http.StatusOK {
					t.Errorf("%d %s", reply.Code, reply.Body)
				}
			}
		})
		group.Go(func() {
			for leader.Sleep(ctx, 20*time.Millisecond) == nil {
				_ = c.Resign(ctx)
			}
		})
	}
	group.Wait()
	if terms := len(a.Status().LastTerms) + len(b.Status().LastTerms); terms < 3 {
		t.Errorf("%d terms are no churn", terms)
	}
}
