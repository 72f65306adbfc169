package show

import (
	"fmt"
	"os"
	"strings"
)

// Style is the parameter of an ANSI escape sequence.
type Style string

// Styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "1;31"
	Green  Style = "1;32"
	Yellow Style = "33"
	Purple Style = "35"
	Cyan   Style = "36"
)

// Palette paints text, or does not.
type Palette struct{ Enabled bool }

// Paint returns text in a style.
func (p Palette) Paint(s Style, text string) string {
	if !p.Enabled || s == Plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// styleOf gives each name a style that it keeps: the replicas, which are called
// replica-1, replica-2 and so on, a colour each.
func styleOf(who string) Style {
	colours := []Style{Cyan, Yellow, Purple}
	var n int
	switch {
	case who == Demo:
		return Dim
	case !strings.HasPrefix(who, replicaPrefix):
		return Bold
	}
	if _, err := fmt.Sscan(who[len(replicaPrefix):], &n); err != nil || n < 1 {
		return Plain
	}
	return colours[(n-1)%len(colours)]
}

// WantColor decides by the value of a flag -color.
func WantColor(mode string, out *os.File) (bool, error) {
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
