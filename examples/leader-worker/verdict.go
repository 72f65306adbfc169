package main

import (
	"errors"
	"fmt"
	"io"
	"time"
)

// criteria are what the demo has to have shown to be of worth.
type criteria struct {
	changes    int // of leader, at least
	rejections int // of writes, at least
}

// check is one claim and whether it holds.
type check struct {
	holds bool
	text  string
}

// judge says what the history and the journal prove.
func judge(terms []term, a account, want criteria) []check {
	changes, rejected := leaderChanges(terms), total(a.rejected)
	return []check{
		noOverlap(terms),
		risingTokens(terms),
		{a.stale == 0, fmt.Sprintf("stale writes accepted: %d of %d", a.stale, total(a.accepted))},
		{rejected >= want.rejections, fmt.Sprintf("late writes rejected: %d (at least %d wanted)", rejected, want.rejections)},
		{changes >= want.changes, fmt.Sprintf("changes of leader: %d (at least %d wanted)", changes, want.changes)},
	}
}

// leaderChanges counts how often another replica took over.
func leaderChanges(terms []term) int {
	n := 0
	for i := 1; i < len(terms); i++ {
		if terms[i].leader != terms[i-1].leader {
			n++
		}
	}
	return n
}

// noOverlap compares each term with all that started later.
func noOverlap(terms []term) check {
	for i, a := range terms {
		if a.open() {
			return check{false, fmt.Sprintf("the term of %s with fence token %d never ended", a.leader, a.fence)}
		}
		for _, b := range terms[i+1:] {
			if by := a.ended.Sub(b.started); by > 0 {
				return check{false, fmt.Sprintf("the terms of %s (%d) and %s (%d) overlapped by %v", a.leader, a.fence, b.leader, b.fence, by.Round(time.Microsecond))}
			}
		}
	}
	return check{true, fmt.Sprintf("no two of the %d terms overlapped", len(terms))}
}

func risingTokens(terms []term) check {
	for i := 1; i < len(terms); i++ {
		if terms[i].fence <= terms[i-1].fence {
			return check{false, fmt.Sprintf("fence token %d came after %d", terms[i].fence, terms[i-1].fence)}
		}
	}
	return check{true, "each term had a higher fence token than the one before"}
}

// failure is nil if all checks hold.
func failure(checks []check) error {
	var errs []error
	for _, c := range checks {
		if !c.holds {
			errs = append(errs, errors.New(c.text))
		}
	}
	return errors.Join(errs...)
}

func printVerdict(out io.Writer, p palette, checks []check) {
	for _, c := range checks {
		mark := p.paint(green, "ok  ")
		if !c.holds {
			mark = p.paint(red, "FAIL")
		}
		fmt.Fprintf(out, "  %s  %s\n", mark, c.text)
	}
	if failure(checks) != nil {
		fmt.Fprintf(out, "\n%s\n", p.paint(red, "FAILED: see above."))
		return
	}
	fmt.Fprintf(out, "\n%s\n", p.paint(green, "PASSED: one leader at a time, and nothing that a deposed one still did was accepted."))
}
