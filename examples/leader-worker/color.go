package main

import (
	"fmt"
	"os"
	"slices"
)

// style is the parameter of an ANSI escape sequence.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "1;31"
	green  style = "1;32"
	yellow style = "33"
	purple style = "35"
	cyan   style = "36"
)

// palette paints text, or does not.
type palette struct{ enabled bool }

func (p palette) paint(s style, text string) string {
	if !p.enabled || s == plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// styleOf gives each replica a colour that it keeps.
func styleOf(who string) style {
	switch who {
	case whoDemo:
		return dim
	case whoResource:
		return bold
	}
	replicas := []style{cyan, yellow, purple}
	if i := slices.Index(identities, who); i >= 0 {
		return replicas[i%len(replicas)]
	}
	return plain
}

// wantColor decides by the value of -color.
func wantColor(mode string, out *os.File) (bool, error) {
	switch mode {
	case "always":
		return true, nil
	case "never":
		return false, nil
	case "auto":
		return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(out), nil
	default:
		return false, fmt.Errorf("-color %q: not auto, always or never", mode)
	}
}
