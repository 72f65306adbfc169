package main

import (
	"fmt"
	"io"
	"strconv"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// tableRow lays out a row; all cells are text.
const tableRow = "%-52s  %5s  %5s  %13s  %5s"

// printTable prints a row for the job and one for each control.
func printTable(out io.Writer, p show.Palette, b books, last int64) {
	fmt.Fprintln(out, p.Paint(show.Bold, fmt.Sprintf(tableRow, "slots", "due", "once", "twice or more", "never")))
	for _, row := range []struct {
		name    string
		entries []entry
	}{
		{"claimed with the fencing token", b.claimed},
		{"control: begins with the slot that is due", b.forgetful},
		{"control: goes on after the last slot it remembers", b.repeating},
	} {
		t := count(row.entries, last)
		style := show.Plain
		if !t.exact() {
			style = show.Yellow
		}
		cells := fmt.Sprintf(tableRow, row.name, strconv.FormatInt(last+1, 10), strconv.Itoa(t.once), strconv.Itoa(t.more), strconv.Itoa(t.never))
		fmt.Fprintln(out, p.Paint(style, cells))
	}
}
