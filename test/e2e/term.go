package e2e

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// forever is the end of a term, or of an operation, that has no known end.
const forever = time.Duration(math.MaxInt64)

// term is one call of OnStartedLeading, until OnStoppedLeading is called or the process
// dies.
type term struct {
	process    string
	fence      int64
	start, end time.Duration
}

func (t term) String() string { return fmt.Sprintf("%s's term with fence %d", t.process, t.fence) }

// pairing reads terms from a history, in order of their starts, and reports starts and
// stops that do not pair up.
func pairing(events []event) ([]term, []violation) {
	var terms []term
	var found []violation
	report := func(at time.Duration, format string, args ...any) {
		found = append(found, violation{rulePairing, fmt.Sprintf(format, args...), at})
	}
	open := make(map[string]*term)
	for _, e := range events {
		t := open[e.Process]
		switch {
		case e.Kind == started && t != nil:
			report(e.At, "%s started again during %v", e.Process, t)
		case e.Kind == started:
			open[e.Process] = &term{process: e.Process, fence: e.Fence, start: e.At, end: forever}
		case e.Kind == stopped && t == nil:
			report(e.At, "%s stopped without a start", e.Process)
		case (e.Kind == stopped || e.Kind == killed) && t != nil:
			t.end = e.At
			terms = append(terms, *t)
			delete(open, e.Process)
		}
	}
	for _, t := range open {
		report(t.start, "%v has no stop", t)
		terms = append(terms, *t)
	}
	slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.start, b.start) })
	return terms, found
}
