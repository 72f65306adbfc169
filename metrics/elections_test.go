package metrics_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/metrics"
)

// failovers returns how many failovers were measured and how long they took together.
func failovers(t *testing.T, gatherer prometheus.Gatherer) (count uint64, took time.Duration) {
	t.Helper()
	families, err := gatherer.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() != "leader_election_failover_seconds" {
			continue
		}
		for _, metric := range family.Metric {
			count += metric.GetHistogram().GetSampleCount()
			took += time.Duration(metric.GetHistogram().GetSampleSum() * float64(time.Second))
		}
	}
	return count, took.Round(time.Millisecond)
}

func TestFailoverCountsFromTheVacancy(t *testing.T) {
	type event = func(m *metrics.Metrics)
	attempt := func(result leader.AcquireResult) event {
		return func(m *metrics.Metrics) { m.AcquireAttempted("job", result) }
	}
	held, failed, won := attempt(leader.AcquireHeld), attempt(leader.AcquireFailed), attempt(leader.AcquireWon)
	started := func(m *metrics.Metrics) { m.TermStarted("job", 1) }
	ended := func(reason leader.EndReason) event {
		return func(m *metrics.Metrics) { m.TermEnded("job", reason, time.Second) }
	}
	drained := func(m *metrics.Metrics) { m.TermDrained("job") }
	second := func(*metrics.Metrics) { time.Sleep(time.Second) }

	for name, test := range map[string]struct {
		events []event
		count  uint64
		took   time.Duration
	}{
		"the first leader of all":             {events: []event{failed, second, won, second, started}},
		"a takeover":                          {[]event{held, second, won, started}, 1, 0},
		"a takeover that asks for the floor":  {[]event{held, second, won, second, started}, 1, time.Second},
		"a takeover whose floor is not known": {[]event{held, won, second, failed, second, won, started}, 1, 2 * time.Second},
		"an outage seen by a candidate":       {[]event{held, second, failed, second, failed, second, won, started}, 1, 2 * time.Second},
		"an outage that another ends":         {[]event{held, failed, second, held, second, won, started}, 1, 0},
		"an outage that ends a term":          {[]event{won, started, ended(leader.EndedExpired), second, drained, second, failed, second, won, started}, 1, 2 * time.Second},
		"work that returned":                  {[]event{won, started, ended(leader.EndedReturned), drained, second, won, started}, 1, time.Second},
		"a lock lost to somebody else":        {[]event{won, started, ended(leader.EndedLost), drained, second, held, second, won, started}, 1, 0},
		"a pause between two Runs":            {[]event{won, started, ended(leader.EndedStopped), drained, second, won, started}, 1, 0},
		"two takeovers":                       {[]event{held, won, second, started, ended(leader.EndedLost), drained, held, won, second, started}, 2, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m, registry := newMetrics(t)
				for _, happen := range test.events {
					happen(m)
				}
				if count, took := failovers(t, registry); count != test.count || took != test.took {
					t.Errorf("%d failovers that took %v, want %d and %v", count, took, test.count, test.took)
				}
			})
		})
	}
}

func TestHandOverIsAFailover(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	old, oldRegistry := newMetrics(t)
	next, nextRegistry := newMetrics(t)
	a, b := elector(t, server, "job", old), elector(t, server, "job", next)
	stopA := run(t, a)
	await(t, "a leads", a.IsLeader)
	run(t, b)
	await(t, "b knows the leader", func() bool { return b.GetLeader() != "" })
	stopA()
	await(t, "b leads", b.IsLeader)
	if count, _ := failovers(t, oldRegistry); count != 0 {
		t.Errorf("the first leader counts %d failovers", count)
	}
	if count, took := failovers(t, nextRegistry); count != 1 || took > lease {
		t.Errorf("its successor counts %d failovers that took %v", count, took)
	}
}

func TestOutageIsPartOfTheFailover(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	m, registry := newMetrics(t)
	e := elector(t, server, "job", m)
	run(t, e)
	await(t, "it leads", e.IsLeader)
	server.Freeze()
	await(t, "its term ends", func() bool { return !e.IsLeader() })
	vacant := time.Now()
	time.Sleep(lease)
	server.Thaw()
	await(t, "it leads again", e.IsLeader)
	if count, took := failovers(t, registry); count != 1 || took < lease/2 || took > time.Since(vacant)+lease {
		t.Errorf("%d failovers that took %v, want one of %v", count, took, time.Since(vacant))
	}
}

// All electors of one name in a process see each term, and it still counts once.
func TestEachTermCountsOnce(t *testing.T) {
	m, registry := newMetrics(t)
	for _, fence := range []int64{0, 0, 7, 7, 9, 9, 8} {
		m.LeaderChanged("job", leader.Leader{FenceToken: fence})
	}
	m.LeaderChanged("other", leader.Leader{FenceToken: 9})
	if got := value(t, registry, `transitions_total{name="job"}`); got != 4 {
		t.Errorf("transitions_total = %v, want 4", got)
	}
	if got := value(t, registry, `transitions_total{name="other"}`); got != 1 {
		t.Errorf("transitions_total of the other = %v, want 1", got)
	}
}
