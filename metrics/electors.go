package metrics

import (
	"slices"
	"sync"
	"weak"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redisleader/redisleader/leader"
)

// These metrics depend on the clocks, so they are read from the electors at each scrape: a
// leader that was frozen must not claim what was true before.
var (
	status = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "master_status"),
		"1 while this process leads, 0 otherwise.", []string{"name"}, nil)
	fenceToken = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "fence_token"),
		"Fencing token of the leader that this process knows of.", []string{"name"}, nil)
	remaining = prometheus.NewDesc(prometheus.BuildFQName(namespace, "", "lease_remaining_seconds"),
		"How long the term of this process lasts unless it is renewed.", []string{"name"}, nil)
)

// electors keeps track of the electors that exist, by name, without keeping them alive. The
// zero value is empty.
type electors struct {
	mu     sync.Mutex
	byName map[string][]weak.Pointer[leader.Elector]
}

func (s *electors) add(name string, e *leader.Elector) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string][]weak.Pointer[leader.Elector])
	}
	s.byName[name] = append(s.byName[name], weak.Make(e))
}

// alive returns the electors that still exist. For each name without any, it calls forget
// before another elector of that name can be added.
func (s *electors) alive(forget func(name string)) map[string][]*leader.Elector {
	s.mu.Lock()
	defer s.mu.Unlock()
	byName := make(map[string][]*leader.Elector, len(s.byName))
	for name, pointers := range s.byName {
		pointers = slices.DeleteFunc(pointers, func(p weak.Pointer[leader.Elector]) bool {
			e := p.Value()
			if e != nil {
				byName[name] = append(byName[name], e)
			}
			return e == nil
		})
		s.byName[name] = pointers
		if len(pointers) == 0 {
			delete(s.byName, name)
			forget(name)
		}
	}
	return byName
}

// knowLeader reports whether an elector of that name knows who leads.
func (s *electors) knowLeader(name string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.byName[name], func(p weak.Pointer[leader.Elector]) bool {
		e := p.Value()
		if e == nil {
			return false
		}
		_, ok := e.Leader()
		return ok
	})
}

// Describe sends the descriptions of all metrics, for the registry.
func (m *Metrics) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{status, fenceToken, remaining} {
		ch <- desc
	}
	for _, v := range m.vectors() {
		v.Describe(ch)
	}
}

// Collect sends all metrics, for the registry. It reads the clocks.
func (m *Metrics) Collect(ch chan<- prometheus.Metric) {
	for name, electors := range m.electors.alive(m.forget) {
		s := sample(electors)
		ch <- prometheus.MustNewConstMetric(status, prometheus.GaugeValue, s.status, name)
		ch <- prometheus.MustNewConstMetric(fenceToken, prometheus.GaugeValue, s.fence, name)
		ch <- prometheus.MustNewConstMetric(remaining, prometheus.GaugeValue, s.remaining, name)
	}
	for _, v := range m.vectors() {
		v.Collect(ch)
	}
}

func (m *Metrics) forget(name string) {
	for _, v := range m.vectors() {
		v.DeletePartialMatch(prometheus.Labels{"name": name})
	}
	m.elections.forget(name)
}

type reading struct{ status, fence, remaining float64 }

// sample reads the electors of one name. If this process has several, the one that leads
// counts.
func sample(electors []*leader.Elector) reading {
	var s reading
	for _, e := range electors {
		if known, ok := e.Leader(); ok {
			s.fence = max(s.fence, float64(known.FenceToken)) // exact: tokens are below 2^53
		}
		if term, ok := e.Term(); ok {
			s.status, s.remaining = 1, max(s.remaining, term.Remaining().Seconds())
		}
	}
	return s
}
