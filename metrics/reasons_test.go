package metrics_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/redislock"
)

// The default timings.
const (
	defaultRenewal  = 5 * time.Second
	defaultDeadline = 10 * time.Second
)

// endings has a way to end a term for each reason: what the work does, and what happens
// meanwhile.
var endings = map[leader.EndReason]struct {
	work   func(context.Context, leader.Term)
	happen func(*leadertest.Server, *leader.Elector, context.CancelFunc)
}{
	leader.EndedLost: {heed, func(s *leadertest.Server, _ *leader.Elector, _ context.CancelFunc) {
		s.Delete(leader.LockKey("", "job"))
		time.Sleep(defaultRenewal)
	}},
	leader.EndedExpired: {heed, func(s *leadertest.Server, _ *leader.Elector, _ context.CancelFunc) {
		s.Fail(errors.New("connection refused"))
		time.Sleep(defaultDeadline)
	}},
	leader.EndedResigned: {heed, func(_ *leadertest.Server, e *leader.Elector, _ context.CancelFunc) {
		_ = e.Resign(context.Background())
	}},
	leader.EndedStopped: {heed, func(_ *leadertest.Server, _ *leader.Elector, stop context.CancelFunc) { stop() }},

	leader.EndedReturned: {work: func(context.Context, leader.Term) {}},
	leader.EndedFailed:   {work: func(_ context.Context, term leader.Term) { term.Fail(errors.New("disk is full")) }},
	leader.EndedDeposed:  {work: func(_ context.Context, term leader.Term) { term.Fail(leader.ErrDeposed) }},
	leader.EndedPanicked: {work: func(context.Context, leader.Term) { panic("job") }},
}

// heed is work that stops when its term ends.
func heed(ctx context.Context, _ leader.Term) { <-ctx.Done() }

func TestTermsEndedAreCountedByReason(t *testing.T) {
	for _, reason := range leader.EndReasons() {
		t.Run(string(reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { testReason(t, reason) })
		})
	}
}

func testReason(t *testing.T, reason leader.EndReason) {
	m, registry := newMetrics(t)
	server, ending := leadertest.NewServer(), endings[reason]
	e, err := leader.New(redislock.New(server), leader.Config{
		Name: "job", Observer: m, Callbacks: leader.Callbacks{OnStartedLeading: ending.work},
		Logger: logr.FromSlogHandler(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() {
		defer func() {
			if panicked := recover() != nil; panicked != (reason == leader.EndedPanicked) {
				t.Errorf("Run panics: %t", panicked)
			}
		}()
		_ = e.Run(ctx)
	})
	synctest.Wait()
	if ending.happen != nil {
		ending.happen(server, e, stop)
		synctest.Wait()
	}
	for _, other := range leader.EndReasons() {
		want := 0.
		if other == reason {
			want = 1
		}
		if got := value(t, registry, `terms_ended_total{name="job",reason="`+string(other)+`"}`); got != want {
			t.Errorf("%s: %v terms, want %v", other, got, want)
		}
	}
	stop()
	group.Wait()
	runtime.KeepAlive(e)
}

// People see the reasons in the alert and on the dashboard, and need to know what they mean.
func TestReasonsAreExplained(t *testing.T) {
	i := slices.IndexFunc(readDashboard(t).Panels, func(p panel) bool { return p.Title == "Ends of terms by reason" })
	shown := readDashboard(t).Panels[i].Description
	alert := alerts(t)["LeaderElectionFlapping"]
	for _, reason := range leader.EndReasons() {
		if !strings.Contains(alert, `"`+string(reason)+`"`) {
			t.Errorf("the alert does not explain %s", reason)
		}
		if !strings.Contains(shown, string(reason)) {
			t.Errorf("the dashboard does not explain %s", reason)
		}
	}
}
