package metrics_test

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/redisleader/redisleader/internal/leaktest"
	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/metrics"
	"github.com/redisleader/redisleader/redislock"
)

func TestMain(m *testing.M) {
	settings, ok := os.LookupEnv(replicaEnv)
	if !ok {
		leaktest.Main(m)
		return
	}
	if err := beReplica(settings); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// lease is long enough for a machine that is busy with other tests.
const lease = 2 * time.Second

func newMetrics(t *testing.T) (*metrics.Metrics, *prometheus.Registry) {
	t.Helper()
	registry := prometheus.NewPedanticRegistry()
	m, err := metrics.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	return m, registry
}

// elector returns a candidate that leads until its context is done.
func elector(t *testing.T, server *redistest.Server, name string, observer leader.Observer) *leader.Elector {
	t.Helper()
	e, err := leader.New(redislock.New(server.Client(t)), leader.Config{
		Name: name, LeaseDuration: lease, Observer: observer,
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) { <-ctx.Done() }},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// idle returns a candidate that never runs. It lives as long as the test.
func idle(t *testing.T) *leader.Elector {
	t.Helper()
	e, err := leader.New(redislock.New(leadertest.NewServer()), leader.Config{
		Name: "job", Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runtime.KeepAlive(e) })
	return e
}

// run runs e until the returned function is called, and keeps it, and so its series,
// until the end of the test.
func run(t *testing.T, e *leader.Elector) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := e.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	stop = func() { cancel(); <-done }
	t.Cleanup(func() { stop(); runtime.KeepAlive(e) })
	return stop
}

func await(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// series returns the value of a series, such as `master_status{name="a"}`, and whether
// it exists.
func series(t *testing.T, gatherer prometheus.Gatherer, want string) (float64, bool) {
	t.Helper()
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, pair := range metric.Label {
				labels = append(labels, fmt.Sprintf("%s=%q", pair.GetName(), pair.GetValue()))
			}
			if "leader_election_"+want != family.GetName()+"{"+strings.Join(labels, ",")+"}" {
				continue
			}
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			return value, true
		}
	}
	return 0, false
}

func value(t *testing.T, gatherer prometheus.Gatherer, want string) float64 {
	t.Helper()
	v, ok := series(t, gatherer, want)
	if !ok {
		t.Fatalf("no series %s", want)
	}
	return v
}

// The values are right for a new elector, a follower and a leader, and after Run.
func TestC12_RightInEachState(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	leading, leadingRegistry := newMetrics(t)
	following, followingRegistry := newMetrics(t)
	a, b := elector(t, server, "job", leading), elector(t, server, "job", following)

	for _, zero := range []string{
		`master_status{name="job"}`, `fence_token{name="job"}`, `lease_remaining_seconds{name="job"}`, `draining{name="job"}`, `transitions_total{name="job"}`,
		`slowpath_total{name="job"}`, `terms_ended_total{name="job",reason="lost"}`, `renew_duration_seconds{name="job",result="success"}`,
		`renew_margin_seconds{name="job"}`, `acquire_attempts_total{name="job",result="won"}`, `term_duration_seconds{name="job"}`,
		`failover_seconds{name="job"}`,
	} {
		if got := value(t, leadingRegistry, zero); got != 0 {
			t.Errorf("new: %s = %v, want 0", zero, got)
		}
	}

	stopA := run(t, a)
	await(t, "a leads", a.IsLeader)
	stopB := run(t, b)
	await(t, "b knows the leader", func() bool { return b.GetLeader() != "" })
	term, _ := a.Term()
	for _, registry := range []prometheus.Gatherer{leadingRegistry, followingRegistry} {
		if got := value(t, registry, `fence_token{name="job"}`); got != float64(term.FenceToken()) {
			t.Errorf("fence_token = %v, want %d", got, term.FenceToken())
		}
		if got := value(t, registry, `transitions_total{name="job"}`); got != 1 {
			t.Errorf("transitions_total = %v, want 1", got)
		}
	}
	if got := value(t, leadingRegistry, `master_status{name="job"}`); got != 1 {
		t.Errorf("leader: master_status = %v, want 1", got)
	}
	if got := value(t, followingRegistry, `master_status{name="job"}`); got != 0 {
		t.Errorf("follower: master_status = %v, want 0", got)
	}
	if got := value(t, leadingRegistry, `lease_remaining_seconds{name="job"}`); got <= 0 || got > lease.Seconds()*2/3 {
		t.Errorf("leader: lease_remaining_seconds = %v, want up to the deadline", got)
	}
	await(t, "a renewal is measured", func() bool {
		return value(t, leadingRegistry, `renew_duration_seconds{name="job",result="success"}`) > 0 && value(t, leadingRegistry, `renew_margin_seconds{name="job"}`) > 0
	})

	stopA()
	await(t, "b leads", b.IsLeader)
	stopB()
	for _, registry := range []prometheus.Gatherer{leadingRegistry, followingRegistry} {
		if got := value(t, registry, `master_status{name="job"}`); got != 0 {
			t.Errorf("after Run: master_status = %v, want 0", got)
		}
		for _, one := range []string{`terms_ended_total{name="job",reason="stopped"}`, `term_duration_seconds{name="job"}`, `acquire_attempts_total{name="job",result="won"}`} {
			if got := value(t, registry, one); got != 1 {
				t.Errorf("after Run: %s = %v, want 1", one, got)
			}
		}
	}
	if got := value(t, followingRegistry, `acquire_attempts_total{name="job",result="held"}`); got < 1 {
		t.Errorf("follower: acquire_attempts_total held = %v", got)
	}
}

// wedge is an Observer that blocks the elector at its next renewal.
type wedge struct {
	leader.Observer
	blocked, unblock chan struct{}
}

func (w wedge) RenewAttempted(name string, r leader.Renewal) {
	select {
	case w.blocked <- struct{}{}:
		<-w.unblock
	case <-w.unblock:
	}
	w.Observer.RenewAttempted(name, r)
}

// The status comes from the clocks, not from an elector that may hang.
func TestC12_ZeroPastTheDeadlineWhileTheElectorHangs(t *testing.T) {
	t.Parallel()
	m, registry := newMetrics(t)
	w := wedge{m, make(chan struct{}), make(chan struct{})}
	e := elector(t, redistest.Start(t), "job", w)
	run(t, e)
	t.Cleanup(func() { close(w.unblock) }) // before the elector is joined
	<-w.blocked
	if got := value(t, registry, `master_status{name="job"}`); got != 1 {
		t.Errorf("before the deadline: master_status = %v, want 1", got)
	}
	await(t, "status 0", func() bool { return value(t, registry, `master_status{name="job"}`) == 0 })
	if got := value(t, registry, `lease_remaining_seconds{name="job"}`); got != 0 {
		t.Errorf("lease_remaining_seconds = %v, want 0", got)
	}
}

func TestDrainingLastsAsLongAsTheWork(t *testing.T) {
	m, registry := newMetrics(t)
	m.TermEnded("job", leader.EndedLost, time.Second)
	if got := value(t, registry, `draining{name="job"}`); got != 1 {
		t.Errorf("draining = %v after the end of the term", got)
	}
	m.TermDrained("job")
	if got := value(t, registry, `draining{name="job"}`); got != 0 {
		t.Errorf("draining = %v after the work returned", got)
	}
}

func TestRenewalsThatNeedAnotherAttemptAreCounted(t *testing.T) {
	m, registry := newMetrics(t)
	m.RenewAttempted("job", leader.Renewal{Attempts: 1})
	m.RenewAttempted("job", leader.Renewal{Attempts: 1, Err: context.DeadlineExceeded})
	m.RenewAttempted("job", leader.Renewal{Attempts: 2, Margin: time.Second})
	for want, n := range map[string]float64{
		`slowpath_total{name="job"}`:                          1,
		`renew_margin_seconds{name="job"}`:                    2,
		`renew_duration_seconds{name="job",result="success"}`: 2,
		`renew_duration_seconds{name="job",result="failure"}`: 1,
	} {
		if got := value(t, registry, want); got != n {
			t.Errorf("%s = %v, want %v", want, got, n)
		}
	}
}

func TestSeriesGoWithTheirElectors(t *testing.T) {
	m, registry := newMetrics(t)
	server := redistest.Start(t)
	kept := elector(t, server, "kept", m)
	elector(t, server, "dropped", m)
	await(t, "the series of the dropped elector are gone", func() bool {
		runtime.GC()
		_, ok := series(t, registry, `master_status{name="dropped"}`)
		return !ok
	})
	if _, ok := series(t, registry, `acquire_attempts_total{name="dropped",result="won"}`); ok {
		t.Error("counters of the dropped elector are left")
	}
	if got := value(t, registry, `master_status{name="kept"}`); got != 0 {
		t.Errorf("master_status of the other = %v", got)
	}
	runtime.KeepAlive(kept)
}

func TestOneRegistryTakesOneMetrics(t *testing.T) {
	_, registry := newMetrics(t)
	if _, err := metrics.New(registry); err == nil {
		t.Error("a second Metrics in one registry is no error")
	}
	newMetrics(t) // another registry
}

func TestNamesFollowTheConventions(t *testing.T) {
	m, registry := newMetrics(t)
	e := elector(t, redistest.Start(t), "job", m)
	problems, err := testutil.GatherAndLint(registry)
	if err != nil || len(problems) > 0 {
		t.Errorf("lint: %v %v", problems, err)
	}
	if slices.Contains(names(t, registry), "") || len(names(t, registry)) != 12 {
		t.Errorf("families %q", names(t, registry))
	}
	runtime.KeepAlive(e)
}

func names(t *testing.T, gatherer prometheus.Gatherer) []string {
	t.Helper()
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, family := range families {
		all = append(all, family.GetName())
	}
	return all
}
