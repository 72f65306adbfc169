//go:build chaos && unix

package e2e

import (
	"testing"
	"time"
)

// excerpts is how many violations are shown with what happened around them.
const excerpts = 5

// chaosResult is what came out of a run.
type chaosResult struct {
	summary    summary
	history    *history
	bound      time.Duration // on the time without a leader
	violations []violation
	problems   []string // with processes
}

// judge fails the test for everything that is wrong.
func (r chaosResult) judge(t *testing.T, length time.Duration) {
	for i, v := range r.violations {
		t.Error(v)
		if v.at != 0 && i < excerpts {
			t.Logf("what happened around it, in ms:\n%s", r.history.excerpt(v.at, 3*shortLease, 2*shortLease))
		}
	}
	for _, problem := range r.problems {
		t.Error(problem)
	}
	if missing := r.summary.missing(); length >= allKinds && len(missing) > 0 {
		t.Errorf("these faults did not happen: %q", missing)
	}
	if r.summary.unfenced == 0 {
		t.Error("the control shows no violation without fencing, so this run has tested nothing")
	}
	if r.summary.vacancy > r.bound {
		t.Errorf("nobody led for %v while no fault was active", r.summary.vacancy)
	}
}
