package main

import (
	"strings"
	"unicode/utf8"
)

// table is a Markdown table. The first column is text, the others hold values.
type table struct {
	columns []string
	rows    [][]string
}

// add appends a row. Cells that are not given are marked as missing.
func (t *table) add(cells ...string) {
	for len(cells) < len(t.columns) {
		cells = append(cells, missing)
	}
	t.rows = append(t.rows, cells)
}

// fail appends the row of a contender that could not be measured.
func (t *table) fail(name string, err error) { t.add(name, notMeasured(err)) }

func (t *table) markdown() string {
	var b strings.Builder
	widths := t.widths()
	writeRow(&b, t.columns, widths)
	b.WriteString("|" + strings.Repeat("-", widths[0]+2) + "|")
	for _, w := range widths[1:] {
		b.WriteString(strings.Repeat("-", w+1) + ":|")
	}
	b.WriteString("\n")
	for _, row := range t.rows {
		writeRow(&b, row, widths)
	}
	return b.String()
}

func (t *table) widths() []int {
	widths := make([]int, len(t.columns))
	for _, row := range append([][]string{t.columns}, t.rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

func writeRow(b *strings.Builder, cells []string, widths []int) {
	for i, cell := range cells {
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
		if i == 0 {
			b.WriteString("| " + cell + pad + " |")
		} else {
			b.WriteString(" " + pad + cell + " |")
		}
	}
	b.WriteString("\n")
}
