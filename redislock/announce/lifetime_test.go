package announce_test

import (
	"fmt"
	"os"
	"testing"
)

// lifetime is the testing.TB of a server that serves the whole run.
type lifetime struct {
	testing.TB
	cleanups []func()
}

func (l *lifetime) Helper()          {}
func (l *lifetime) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func (l *lifetime) TempDir() string {
	dir, err := os.MkdirTemp("", "announce")
	if err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (l *lifetime) Fatal(args ...any) {
	fmt.Fprintln(os.Stderr, args...)
	l.end()
	os.Exit(1)
}

func (l *lifetime) Fatalf(format string, args ...any) { l.Fatal(fmt.Sprintf(format, args...)) }

func (l *lifetime) end() {
	for len(l.cleanups) > 0 {
		last := len(l.cleanups) - 1
		cleanup := l.cleanups[last]
		l.cleanups = l.cleanups[:last]
		cleanup()
	}
}
