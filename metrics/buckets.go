package metrics

import "github.com/prometheus/client_golang/prometheus"

// Buckets for leases from 1 s to 60 s. With the timings that follow from a LeaseDuration of
// L, an attempt to renew may take 0.07 L. Of the term, a renewal on time leaves L/3, one
// that needed a second attempt about L/5, and one that needed a third L/12. For each lease
// these must fall into different buckets, or a shrinking margin does not show.
var (
	renewDurationBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}
	renewMarginBuckets   = []float64{.01, .025, .05, .1, .15, .25, .35, .5, .7, 1, 1.5, 2, 3, 4, 5, 7, 10, 14, 20, 30, 40}

	// A hand-over takes milliseconds, a take-over after a crash up to a lease, and an
	// outage of Redis as long as it lasts.
	failoverBuckets = []float64{.0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300, 900}

	// Terms that end within a lease mean trouble; good ones last from one deployment to the
	// next.
	termDurationBuckets = []float64{1, 2.5, 5, 15, 30, minute, 5 * minute, 15 * minute, hour, 4 * hour, 12 * hour, day, 3 * day, 7 * day}
)

const (
	minute = 60.
	hour   = 60 * minute
	day    = 24 * hour
)

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	opts := prometheus.HistogramOpts{Namespace: namespace, Name: name, Help: help, Buckets: buckets}
	return prometheus.NewHistogramVec(opts, append([]string{"name"}, labels...))
}
