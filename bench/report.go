package main

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

// In docs/performance.md, the results are between these lines.
const (
	beginMarker = "<!-- bench:begin -->"
	endMarker   = "<!-- bench:end -->"
)

// section holds the results of one measurement.
type section struct {
	title  string
	text   string // what is measured, and who has an advantage
	tables []captioned
	plots  []plot
}

type captioned struct {
	caption string // may be empty
	table   table
}

// report holds the results of a run.
type report struct {
	machine  string
	plan     plan
	took     time.Duration
	sections []section
	images   string // directory of the plots, relative to the Markdown; "": none
}

func (r report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\n%s\n", r.machine, r.method())
	for _, s := range r.sections {
		fmt.Fprintf(&b, "\n### %s\n\n%s\n", s.title, s.text)
		for _, t := range s.tables {
			if t.caption != "" {
				fmt.Fprintf(&b, "\n%s\n", t.caption)
			}
			fmt.Fprintf(&b, "\n%s", t.table.markdown())
		}
		for _, p := range s.plots {
			if r.images != "" {
				fmt.Fprintf(&b, "\n![%s](%s)\n", p.title, path.Join(r.images, p.file))
			}
		}
	}
	return b.String()
}

func (r report) method() string {
	size := "Full"
	if r.plan.short {
		size = "Short"
	}
	return fmt.Sprintf("%s run of %v, %d rounds."+
		" In each round all contenders take turns, in a random order.",
		size, r.took.Round(time.Second), r.plan.rounds)
}

// writePlots writes each plot to its own file.
func (r report) writePlots(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("-svg %q: %w", dir, err)
	}
	for _, s := range r.sections {
		for _, p := range s.plots {
			if err := os.WriteFile(filepath.Join(dir, p.file), []byte(p.svg()), 0o644); err != nil {
				return fmt.Errorf("-svg %q: %w", dir, err)
			}
		}
	}
	return nil
}

// writeInto replaces the text between the markers of a Markdown file. If plots names a
// directory, the Markdown shows the plots in it.
func (r report) writeInto(file, plots string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("-md %q: %w", file, err)
	}
	if plots != "" {
		if r.images, err = filepath.Rel(filepath.Dir(file), plots); err != nil {
			return fmt.Errorf("-md %q with -svg %q: %w", file, plots, err)
		}
		r.images = filepath.ToSlash(r.images)
	}
	replaced, err := replaceBetween(string(text), r.markdown())
	if err != nil {
		return fmt.Errorf("-md %q: %w", file, err)
	}
	if err := os.WriteFile(file, []byte(replaced), 0o644); err != nil {
		return fmt.Errorf("-md %q: %w", file, err)
	}
	return nil
}

func replaceBetween(text, results string) (string, error) {
	before, rest, begins := strings.Cut(text, beginMarker)
	_, after, ends := strings.Cut(rest, endMarker)
	if !begins || !ends {
		return "", errors.New("no " + beginMarker + " followed by " + endMarker)
	}
	return before + beginMarker + "\n\n" + results + "\n" + endMarker + after, nil
}
