package metrics_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// bounds returns the upper bounds of a histogram's buckets.
func bounds(t *testing.T, name string) []float64 {
	t.Helper()
	m, registry := newMetrics(t)
	m.RenewAttempted("job", leader.Renewal{})
	m.ElectorCreated("job", idle(t))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "leader_election_"+name {
			var all []float64
			for _, bucket := range family.Metric[0].GetHistogram().Bucket {
				all = append(all, bucket.GetUpperBound())
			}
			return all
		}
	}
	t.Fatalf("no histogram %s", name)
	return nil
}

// bucket returns the bounds of the bucket that a duration falls into.
func bucket(bounds []float64, d time.Duration) (low, high float64) {
	i, _ := slices.BinarySearch(bounds, d.Seconds())
	high = math.Inf(1)
	if i < len(bounds) {
		high = bounds[i]
	}
	if i > 0 {
		low = bounds[i-1]
	}
	return low, high
}

// The alert compares with half of what is usual. A quantile lies anywhere in its bucket, so
// whole buckets have to be on the right side of that half.
func TestMarginBucketsFitTheLease(t *testing.T) {
	margins := bounds(t, "renew_margin_seconds")
	for _, lease := range []time.Duration{1, 2, 3, 5, 8, 10, 12, 15, 20, 25, 30, 40, 45, 50, 60} {
		lease *= time.Second
		low, high := bucket(margins, lease/3-lease/200)
		if low < high/2 {
			t.Errorf("lease %v: a renewal on time is between %v and %v s, and may be half of itself", lease, low, high)
		}
		if thirdLow, thirdHigh := bucket(margins, lease/12); thirdLow == 0 || thirdHigh > low/2 {
			t.Errorf("lease %v: a renewal at the third attempt is between %v and %v s, one on time as short as %v s", lease, thirdLow, thirdHigh, low)
		}
	}
}

func TestBucketsSpanWhatHappens(t *testing.T) {
	for name, span := range map[string]struct{ least, most time.Duration }{
		// Loopback; an attempt with a lease of 60 s.
		"renew_duration_seconds": {time.Millisecond, 4500 * time.Millisecond},
		// The last moment of a short lease; a lease of 60 s, renewed at once.
		"renew_margin_seconds": {15 * time.Millisecond, 40 * time.Second},
		// A hand-over; an outage.
		"failover_seconds": {5 * time.Millisecond, 5 * time.Minute},
		// Trouble; a weekend.
		"term_duration_seconds": {2 * time.Second, 3 * 24 * time.Hour},
	} {
		all := bounds(t, name)
		if low, _ := bucket(all, span.least); low == 0 {
			t.Errorf("%s: %v is in the first bucket", name, span.least)
		}
		if _, high := bucket(all, span.most); math.IsInf(high, 1) {
			t.Errorf("%s: %v is in no bucket", name, span.most)
		}
		for i := 1; i < len(all); i++ {
			if all[i] <= all[i-1] || all[i] > 7*all[i-1] {
				t.Errorf("%s: bucket %v follows %v", name, all[i], all[i-1])
			}
		}
	}
}
