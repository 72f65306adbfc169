package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// tableRow lays out a row; all cells are text.
const tableRow = "%4s  %-9s  %-16s  %8s  %14s  %14s  %15s"

// printTable prints a row for each term.
func printTable(out io.Writer, p show.Palette, reigns []show.Reign, b books, rejected map[int64]int) {
	fmt.Fprintln(out, p.Paint(show.Bold, fmt.Sprintf(tableRow, "term", "leader", "fence token", "accepted", "late: rejected", "late: accepted", "unguarded: late")))
	for i, r := range reigns {
		printRow(out, p, strconv.Itoa(i+1), r.Leader, strconv.FormatInt(r.Fence, 10),
			b.guarded.sent[r.Fence], rejected[r.Fence], b.guarded.late[r.Fence], b.unguarded.late[r.Fence])
	}
	printRow(out, p, "", "all", "", total(b.guarded.sent), total(rejected), total(b.guarded.late), total(b.unguarded.late))
}

func printRow(out io.Writer, p show.Palette, term, leader, fence string, accepted, rejected, late, unguarded int) {
	style := show.Plain
	if late > 0 || unguarded > 0 {
		style = show.Yellow
	}
	fmt.Fprintln(out, p.Paint(style, fmt.Sprintf(tableRow, term, leader, fence,
		strconv.Itoa(accepted), strconv.Itoa(rejected), strconv.Itoa(late), strconv.Itoa(unguarded))))
}
