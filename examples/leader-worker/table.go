package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// tableRow lays out a row; all cells are text.
const tableRow = "%4s  %-9s  %-16s  %7s  %-33s  %11s  %8s  %8s"

// printTable prints a row for each term.
func printTable(out io.Writer, p show.Palette, terms []term, a account) {
	title := fmt.Sprintf(tableRow, "term", "leader", "fence token", "lasted", "ended by", "gap to next", "accepted", "rejected")
	fmt.Fprintln(out, p.Paint(show.Bold, title))
	for i, t := range terms {
		row := fmt.Sprintf(tableRow, strconv.Itoa(i+1), t.leader, strconv.FormatInt(t.fence, 10), lasted(t), t.why, gap(terms, i),
			strconv.Itoa(a.accepted[t.fence]), strconv.Itoa(a.rejected[t.fence]))
		fmt.Fprintln(out, row)
	}
	sums := fmt.Sprintf(tableRow, "", "", "", "", "", "all writes", strconv.Itoa(total(a.accepted)), strconv.Itoa(total(a.rejected)))
	fmt.Fprintln(out, p.Paint(show.Bold, sums))
}

func lasted(t term) string {
	if t.open() {
		return "?"
	}
	return show.Seconds(t.ended.Sub(t.started))
}

// gap is how long nobody led after a term.
func gap(terms []term, i int) string {
	if i+1 == len(terms) || terms[i].open() {
		return "-"
	}
	return show.Seconds(terms[i+1].started.Sub(terms[i].ended))
}
