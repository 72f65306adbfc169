package redislock

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/internal/redistest"
)

// shared is the server of all tests that do it no harm: each uses keys of its own. It
// is set by TestMain.
var shared *redistest.Server

// ServerStarted is told the address of the shared server. Package redislock_test sets it.
var ServerStarted func(addr string)

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

// suite runs the tests between the start and the end of the shared server.
type suite struct{ *testing.M }

func (s suite) Run() int {
	var tb lifetime
	defer tb.end()
	shared = redistest.Start(&tb)
	ServerStarted(shared.Addr())
	return s.M.Run()
}

// lifetime is the testing.TB of what lives as long as the whole run.
type lifetime struct {
	testing.TB
	cleanups []func()
}

func (l *lifetime) Helper()          {}
func (l *lifetime) Cleanup(f func()) { l.cleanups = append(l.cleanups, f) }

func (l *lifetime) TempDir() string {
	dir, err := os.MkdirTemp("", "redislock")
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
