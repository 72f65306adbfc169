package show

import (
	"os"
	"testing"
)

func TestWantColor(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0) // a character device, as a terminal is
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = null.Close() }()
	for _, c := range []struct {
		mode, noColor, term string
		out                 *os.File
		want                bool
	}{
		{"auto", "", "xterm", file, false},
		{"auto", "", "xterm", null, CanFreeze}, // on Windows the null device is no console
		{"auto", "1", "xterm", null, false},
		{"auto", "", "dumb", null, false},
		{"always", "1", "dumb", file, true},
		{"never", "", "xterm", null, false},
	} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got, err := WantColor(c.mode, c.out); err != nil || got != c.want {
			t.Errorf("%+v: %v, %v", c, got, err)
		}
	}
	if _, err := WantColor("blue", file); err == nil {
		t.Error("blue: no error")
	}
}

func TestReplicasHaveColoursOfTheirOwn(t *testing.T) {
	t.Parallel()
	seen := make(map[Style]string)
	for _, who := range []string{"replica-1", "replica-2", "replica-3", "replica-x", Demo, "resource"} {
		s := styleOf(who)
		if other, ok := seen[s]; ok {
			t.Errorf("%s looks like %s", who, other)
		}
		seen[s] = who
	}
}
