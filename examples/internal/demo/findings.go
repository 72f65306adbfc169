package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Check is one claim and whether it holds.
type Check struct {
	Holds bool
	Text  string
}

// findings are what a show has seen, and what the verdict is based on.
type findings struct {
	played   error // that not all scenes were played
	terms    []Term
	writes   []int64       // tokens of the writes accepted, in order
	rejected map[int64]int // writes, by token
	breaks   int           // terms that the show has ended while others stood by
	freezes  int           // how many of them left a late write behind
	report   Report
}

// findings are to be had once all replicas have ended.
func (c *Cluster) findings(ctx context.Context, played error) (f findings, err error) {
	f = findings{played: played, terms: c.terms, rejected: c.rejected, breaks: c.breaks, freezes: c.freezes}
	if f.writes, err = c.store.Writes(ctx); err != nil {
		return f, err
	}
	f.report, err = c.store.Report(ctx, f.terms)
	return f, err
}

// conclude prints tables and verdict. It returns nil if all checks hold.
func (f findings) conclude(out io.Writer, p painter) error {
	fmt.Fprintln(out)
	f.printTable(out, p)
	fmt.Fprintln(out)
	var failed []error
	for _, c := range f.judge() {
		mark := p.paint(green, "ok  ")
		if !c.Holds {
			mark = p.paint(red, "FAIL")
			failed = append(failed, errors.New(c.Text))
		}
		fmt.Fprintf(out, "  %s  %s\n", mark, c.Text)
	}
	verdict := p.paint(green, "PASSED: one leader at a time, and nothing that a deposed one still did was accepted.")
	err := errors.Join(failed...)
	if err != nil {
		verdict = p.paint(red, "FAILED: see above.")
	}
	fmt.Fprintf(out, "\n%s\n", verdict)
	return err
}

// judge says what the findings prove.
func (f findings) judge() []Check {
	late, rejected, takeOvers := len(stale(f.writes)), sum(f.rejected), max(len(f.terms)-1, 0)
	played := "all scenes were played"
	if f.played != nil {
		played = f.played.Error()
	}
	checks := []Check{
		{f.played == nil, played},
		f.noOverlap(),
		f.risingTokens(),
		{takeOvers >= f.breaks, fmt.Sprintf("take-overs: %d (at least %d wanted)", takeOvers, f.breaks)},
		{late == 0 && len(f.writes) > 0, fmt.Sprintf("stale writes accepted: %d of %d", late, len(f.writes))},
	}
	if f.freezes > 0 {
		checks = append(checks, Check{rejected >= f.freezes, fmt.Sprintf("late writes rejected: %d (at least %d wanted)", rejected, f.freezes)})
	}
	if f.freezes > 0 && f.report.Control != nil {
		n := len(stale(f.report.Control))
		checks = append(checks, Check{n >= f.freezes, fmt.Sprintf("stale writes accepted by the control: %d (at least %d wanted)", n, f.freezes)})
	}
	return append(checks, f.report.Checks...)
}

// noOverlap compares each term with all that started later.
func (f findings) noOverlap() Check {
	for i, a := range f.terms {
		if a.open() {
			return Check{false, fmt.Sprintf("the term of %s with fencing token %d never ended", a.Replica, a.Fence)}
		}
		for _, b := range f.terms[i+1:] {
			if by := a.Ended.Sub(b.Started); by > 0 {
				return Check{false, fmt.Sprintf("the terms of %s (%d) and %s (%d) overlapped by %v",
					a.Replica, a.Fence, b.Replica, b.Fence, by.Round(time.Microsecond))}
			}
		}
	}
	return Check{true, fmt.Sprintf("no two of the %d terms overlapped", len(f.terms))}
}

func (f findings) risingTokens() Check {
	for i := 1; i < len(f.terms); i++ {
		if a, b := f.terms[i-1].Fence, f.terms[i].Fence; b <= a {
			return Check{false, fmt.Sprintf("fencing token %d came after %d", b, a)}
		}
	}
	return Check{true, "each term had a higher fencing token than the one before"}
}

// printTable prints a row for each term. If there is a control, its stale writes have a
// column.
func (f findings) printTable(out io.Writer, p painter) {
	row := func(s style, cells ...string) {
		text := ""
		for i, width := range []int{4, -9, -16, 7, -33, 11, 8, 8, 14} {
			if i < 8 || f.report.Control != nil {
				text += fmt.Sprintf("%*s  ", width, cells[i])
			}
		}
		fmt.Fprintln(out, p.paint(s, strings.TrimRight(text, " ")))
	}
	accepted, control := countByToken(f.writes), countByToken(stale(f.report.Control))
	row(bold, "term", "leader", "fencing token", "lasted", "ended by", "gap to next", "accepted", "rejected", "control: stale")
	for i, t := range f.terms {
		lasted, gap := "?", "-"
		if !t.open() {
			lasted = seconds(t.Ended.Sub(t.Started))
		}
		if i+1 < len(f.terms) && !t.open() {
			gap = seconds(f.terms[i+1].Started.Sub(t.Ended))
		}
		row(plain, strconv.Itoa(i+1), t.Replica, strconv.FormatInt(t.Fence, 10), lasted, t.Reason, gap,
			strconv.Itoa(accepted[t.Fence]), strconv.Itoa(f.rejected[t.Fence]), strconv.Itoa(control[t.Fence]))
	}
	row(bold, "", "", "", "", "", "all writes", strconv.Itoa(len(f.writes)), strconv.Itoa(sum(f.rejected)), strconv.Itoa(sum(control)))
}

// countByToken counts writes by their token.
func countByToken(writes []int64) map[int64]int {
	counts := make(map[int64]int)
	for _, token := range writes {
		counts[token]++
	}
	return counts
}

// stale are the writes that were applied after one with a higher token.
func stale(writes []int64) (late []int64) {
	var highest int64
	for _, token := range writes {
		if highest = max(highest, token); token < highest {
			late = append(late, token)
		}
	}
	return late
}

func sum(counts map[int64]int) (total int) {
	for _, n := range counts {
		total += n
	}
	return total
}
