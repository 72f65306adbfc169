package demo

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Entries come through several pipes. They are printed in the order in which things
// happened.
func TestTimelineIsInOrder(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	line := &timeline{out: &out, painter: true}
	start := time.Now()
	line.add(start.Add(20*time.Millisecond), "replica-1", plain, "%s", "third")
	line.add(start, "", bold, "%s", "first")
	line.add(start.Add(10*time.Millisecond), "replica-2", red, "%s", "second")
	line.close()
	if !regexp.MustCompile(`(?s)first.*second.*third`).MatchString(out.String()) {
		t.Errorf("printed:\n%s", out.String())
	}
}

func TestColours(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	terminal, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	for _, c := range []struct {
		force, no, term string
		out             *os.File
		want            painter
	}{
		{"", "", "xterm", file, false},
		{"", "", "xterm", terminal, canFreeze}, // not on Windows
		{"", "1", "xterm", terminal, false},
		{"", "", "dumb", terminal, false},
		{"1", "1", "dumb", file, true},
	} {
		t.Setenv("CLICOLOR_FORCE", c.force)
		t.Setenv("NO_COLOR", c.no)
		t.Setenv("TERM", c.term)
		if got := newPainter(c.out); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
