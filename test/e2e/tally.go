package e2e

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// tally is what happened in a long run, in numbers.
type tally struct {
	terms      int
	endings    map[string]int // of terms, by reason
	faults     map[faultKind]int
	accepted   int // writes to the guarded register
	rejected   int
	unanswered int
	fenced     int // violations at the guarded register
	unfenced   int // and in the control
	others     int // violations of other rules
	vacancy    time.Duration
	calms      int
}

// newTally counts what a history and the resource tell.
func newTally(events []event, control []entry, violations []violation, faults map[faultKind]int) tally {
	terms, _ := pairing(events)
	t := tally{terms: len(terms), endings: make(map[string]int), faults: faults, unfenced: len(regressions(control))}
	for _, v := range violations {
		if v.rule == ruleRegister || v.rule == ruleAtomic {
			t.fenced++
		} else {
			t.others++
		}
	}
	for _, e := range events {
		t.count(e)
	}
	t.vacancy, _ = vacancy(events, terms)
	return t
}

func (t *tally) count(e event) {
	switch e.Kind {
	case ended:
		t.endings[e.Detail]++
	case recovers:
		t.calms++
	case wrote:
		switch answer(e) {
		case accepted:
			t.accepted++
		case rejected:
			t.rejected++
		default:
			t.unanswered++
		}
	}
}

// missing are the kinds of fault that did not happen.
func (t tally) missing() []faultKind {
	var none []faultKind
	for _, c := range faultClasses {
		if t.faults[c.kind] == 0 {
			none = append(none, c.kind)
		}
	}
	return none
}

// table is the tally for people to read. bound is what the vacancy may be.
func (t tally) table(bound time.Duration) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', tabwriter.AlignRight|tabwriter.DiscardEmptyColumns)
	row := func(name string, value any, remark string) {
		fmt.Fprintf(w, "%v\t  %s%s\n", value, name, remark)
	}
	row("terms", t.terms, t.reasons())
	total := 0
	for _, c := range faultClasses {
		row(string(c.kind), t.faults[c.kind], "")
		total += t.faults[c.kind]
	}
	row("faults", total, fmt.Sprintf(" in all, and %d calms", t.calms))
	row("guarded writes accepted", t.accepted, "")
	row("guarded writes rejected", t.rejected, "")
	row("writes without an answer", t.unanswered, "")
	row("violations with fencing", t.fenced, "")
	row("violations in the unfenced control", t.unfenced, "")
	row("violations of other rules", t.others, "")
	row("the longest without a leader while all was well", t.vacancy.Round(time.Millisecond), fmt.Sprintf(", of %v at most", bound))
	_ = w.Flush() // to memory
	return b.String()
}

// reasons says why terms ended.
func (t tally) reasons() string {
	var all []string
	for _, reason := range slices.Sorted(maps.Keys(t.endings)) {
		all = append(all, fmt.Sprintf("%d %s", t.endings[reason], reason))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ") + ", the rest killed"
}

// vacancy is the longest time without a leader, and when it began, while all was well:
// from the end of all faults to the next. That includes the time in which the last
// fault is recovered from.
func vacancy(events []event, terms []term) (longest, since time.Duration) {
	for i, e := range events {
		if e.Kind != recovers {
			continue
		}
		until := events[len(events)-1].At
		if next := slices.IndexFunc(events[i+1:], event.disturbs); next >= 0 {
			until = events[i+1+next].At
		}
		if gap, at := widest(terms, e.At, until); gap > longest {
			longest, since = gap, at
		}
	}
	return longest, since
}

// disturbs reports whether the test breaks something.
func (e event) disturbs() bool {
	return e.Kind == fault || e.Kind == lostKey || e.Kind == frozen || e.Kind == terminated || e.Kind == killed
}

// widest is the longest time between two instants that no term covers, and when it
// begins. Terms are in order of their starts.
func widest(terms []term, from, to time.Duration) (gap, at time.Duration) {
	covered := from
	look := func(until time.Duration) {
		if until-covered > gap {
			gap, at = until-covered, covered
		}
	}
	for _, t := range terms {
		if t.end <= covered || t.start >= to {
			continue
		}
		look(t.start)
		covered = t.end
	}
	if covered < to {
		look(to)
	}
	return gap, at
}
