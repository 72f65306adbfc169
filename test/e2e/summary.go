package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// summary is what happened in a long run, in numbers.
type summary struct {
	terms        int
	endings      map[string]int // of terms, by reason
	faults       map[faultKind]int
	quietPeriods int
	accepted     int // writes to the guarded register
	rejected     int
	unanswered   int
	fenced       int // violations at the guarded register
	unfenced     int // and at the control
	others       int // violations of other rules
	vacancy      time.Duration
}

// newSummary counts what a history and the resource contain.
func newSummary(events []event, control []entry, violations []violation, faults map[faultKind]int) summary {
	terms, _ := pairing(events)
	s := summary{terms: len(terms), endings: make(map[string]int), faults: faults, unfenced: len(regressions(control))}
	for _, v := range violations {
		if v.rule == ruleRegister || v.rule == ruleAtomic {
			s.fenced++
		} else {
			s.others++
		}
	}
	for _, e := range events {
		s.count(e)
	}
	s.vacancy, _ = vacancy(events, terms)
	return s
}

func (s *summary) count(e event) {
	switch e.Kind {
	case ended:
		s.endings[e.Detail]++
	case recovers:
		s.quietPeriods++
	case wrote:
		switch outcomeOf(e) {
		case accepted:
			s.accepted++
		case rejected:
			s.rejected++
		default:
			s.unanswered++
		}
	}
}

// missing returns the kinds of fault that did not happen.
func (s summary) missing() []faultKind {
	var none []faultKind
	for _, c := range faultClasses {
		if s.faults[c.kind] == 0 {
			none = append(none, c.kind)
		}
	}
	return none
}

// table is the summary in readable form. bound is the longest vacancy allowed.
func (s summary) table(bound time.Duration) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	row := func(name string, value any, remark string) {
		fmt.Fprintf(w, "%v\t  %s%s\n", value, name, remark)
	}
	row("terms", s.terms, s.reasons())
	total := 0
	for _, c := range faultClasses {
		row(string(c.kind), s.faults[c.kind], "")
		total += s.faults[c.kind]
	}
	row("faults", total, fmt.Sprintf(" in total, and %d quiet periods", s.quietPeriods))
	row("guarded writes accepted", s.accepted, "")
	row("guarded writes rejected", s.rejected, "")
	row("writes without an answer", s.unanswered, "")
	row("violations with fencing", s.fenced, "")
	row("violations in the unfenced control", s.unfenced, "")
	row("violations of other rules", s.others, "")
	row("longest time without a leader while no fault was active", s.vacancy.Round(time.Millisecond), fmt.Sprintf(", limit %v", bound))
	_ = w.Flush() // to memory
	return b.String()
}

// reasons says why terms ended.
func (s summary) reasons() string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(s.endings)) {
		all = append(all, fmt.Sprintf("%d %s", s.endings[reason], reason))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ") + ", the rest killed"
}

// vacancy is the longest time without a leader while no fault was active, and when it
// began. It looks at the time between the end of all faults and the next fault, which
// includes the recovery from the last one.
func vacancy(events []event, terms []term) (longest, since time.Duration) {
	for i, e := range events {
		if e.Kind != recovers {
			continue
		}
		until := events[len(events)-1].At
		if next := slices.IndexFunc(events[i+1:], event.disturbs); next >= 0 {
			until = events[i+1+next].At
		}
		if gap, at := widestGap(terms, e.At, until); gap > longest {
			longest, since = gap, at
		}
	}
	return longest, since
}

// disturbs reports whether the event is the test breaking something.
func (e event) disturbs() bool {
	return e.Kind == fault || e.Kind == lostKey || e.Kind == frozen || e.Kind == terminated || e.Kind == killed
}

// widestGap is the longest time between two instants that no term covers, and when it
// begins. Terms are in order of their starts.
func widestGap(terms []term, from, to time.Duration) (gap, at time.Duration) {
	covered := from
	extend := func(until time.Duration) {
		if until-covered > gap {
			gap, at = until-covered, covered
		}
	}
	for _, t := range terms {
		if t.end <= covered || t.start >= to {
			continue
		}
		extend(t.start)
		covered = t.end
	}
	if covered < to {
		extend(to)
	}
	return gap, at
}
