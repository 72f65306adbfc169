package metrics

import (
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/redisleader/redisleader/leader"
)

const namespace = "leader_election"

// Values of the label result of renew_duration_seconds.
const (
	renewed     = "success"
	renewFailed = "failure"
)

// Metrics is a leader.Observer and a prometheus.Collector. It is safe for use by many
// electors and goroutines.
type Metrics struct {
	leader.NopObserver // for methods that later versions of the interface have

	electors  electors
	elections elections

	draining      *prometheus.GaugeVec
	transitions   *prometheus.CounterVec
	termsEnded    *prometheus.CounterVec
	termDuration  *prometheus.HistogramVec
	acquires      *prometheus.CounterVec
	renewDuration *prometheus.HistogramVec
	renewMargin   *prometheus.HistogramVec
	slowpath      *prometheus.CounterVec
	failover      *prometheus.HistogramVec
}

// New returns a Metrics that is registered with registerer. The error wraps that of the
// registerer, such as a prometheus.AlreadyRegisteredError for a second Metrics in one
// registry.
func New(registerer prometheus.Registerer) (*Metrics, error) {
	m := &Metrics{
		draining:      gauge("draining", "Terms of this process that have ended while their work is still running."),
		transitions:   counter("transitions_total", "Terms that were seen to begin, in this process and in others."),
		termsEnded:    counter("terms_ended_total", "Terms of this process that have ended.", "reason"),
		termDuration:  histogram("term_duration_seconds", "How long the terms of this process lasted.", termDurationBuckets),
		acquires:      counter("acquire_attempts_total", "Attempts to obtain the lock.", "result"),
		renewDuration: histogram("renew_duration_seconds", "How long attempts to renew the lease took.", renewDurationBuckets, "result"),
		renewMargin:   histogram("renew_margin_seconds", "What was left of the term at each successful renewal.", renewMarginBuckets),
		slowpath:      counter("slowpath_total", "Renewals of the lease that needed more than one attempt."),
		failover:      histogram("failover_seconds", "How long this process saw nobody lead before it led itself. The very first leader does not count.", failoverBuckets),
	}
	if err := registerer.Register(m); err != nil {
		return nil, fmt.Errorf("metrics: %w", err)
	}
	return m, nil
}

func gauge(name, help string) *prometheus.GaugeVec {
	return prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: namespace, Name: name, Help: help}, []string{"name"})
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: namespace, Name: name, Help: help}, append([]string{"name"}, labels...))
}

// vectors returns the metrics that events change. All others are read from the electors at
// each scrape.
func (m *Metrics) vectors() []vector {
	return []vector{
		m.draining, m.transitions, m.termsEnded, m.termDuration,
		m.acquires, m.renewDuration, m.renewMargin, m.slowpath, m.failover,
	}
}

type vector interface {
	prometheus.Collector
	DeletePartialMatch(prometheus.Labels) int
}

// ElectorCreated makes the series of an elector exist, for all values of their labels, so
// that the first event is a step from 0.
func (m *Metrics) ElectorCreated(name string, e *leader.Elector) {
	m.electors.add(name, e)
	m.draining.WithLabelValues(name)
	m.transitions.WithLabelValues(name)
	m.termDuration.WithLabelValues(name)
	m.renewMargin.WithLabelValues(name)
	m.slowpath.WithLabelValues(name)
	m.failover.WithLabelValues(name)
	for _, reason := range leader.EndReasons() {
		m.termsEnded.WithLabelValues(name, string(reason))
	}
	for _, result := range leader.AcquireResults() {
		m.acquires.WithLabelValues(name, string(result))
	}
	for _, result := range []string{renewed, renewFailed} {
		m.renewDuration.WithLabelValues(name, result)
	}
}

// AcquireAttempted counts attempts to obtain the lock and notes when nobody holds it.
func (m *Metrics) AcquireAttempted(name string, result leader.AcquireResult) {
	m.acquires.WithLabelValues(name, string(result)).Inc()
	known := m.electors.knowLeader(name)
	m.elections.update(name, func(e *election) { e.attempted(result, known) })
}

// LeaderChanged counts terms that were seen to begin.
func (m *Metrics) LeaderChanged(name string, l leader.Leader) {
	m.elections.update(name, func(e *election) {
		if e.seen(l.FenceToken) {
			m.transitions.WithLabelValues(name).Inc()
		}
	})
}

// TermStarted measures how long nobody led before this term.
func (m *Metrics) TermStarted(name string, _ int64) {
	m.elections.update(name, func(e *election) {
		if lasted, ok := e.started(); ok {
			m.failover.WithLabelValues(name).Observe(lasted.Seconds())
		}
	})
}

// RenewAttempted measures attempts to renew the lease.
func (m *Metrics) RenewAttempted(name string, r leader.Renewal) {
	if r.Err != nil {
		m.renewDuration.WithLabelValues(name, renewFailed).Observe(r.Duration.Seconds())
		return
	}
	m.renewDuration.WithLabelValues(name, renewed).Observe(r.Duration.Seconds())
	m.renewMargin.WithLabelValues(name).Observe(r.Margin.Seconds())
	if r.Attempts > 1 {
		m.slowpath.WithLabelValues(name).Inc()
	}
}

// TermEnded counts and measures the terms of this process.
func (m *Metrics) TermEnded(name string, reason leader.EndReason, lasted time.Duration) {
	m.elections.update(name, func(e *election) { e.ended(reason) })
	m.draining.WithLabelValues(name).Inc() // several electors of one name may drain at a time
	m.termsEnded.WithLabelValues(name, string(reason)).Inc()
	m.termDuration.WithLabelValues(name).Observe(lasted.Seconds())
}

// TermDrained notes that the work of a term no longer runs.
func (m *Metrics) TermDrained(name string) {
	m.elections.update(name, (*election).drained)
	m.draining.WithLabelValues(name).Dec()
}
