package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestBadConfigIsAnErrorWithTheLog(t *testing.T) {
	dir := t.TempDir()
	_, err := Launch(dir, "--no-such-setting", "1")
	log, _ := os.ReadFile(filepath.Join(dir, "redis-server.log"))
	if err == nil || len(log) == 0 || !strings.Contains(err.Error(), string(log)) {
		t.Errorf("error = %v, want the server's log\n%s", err, log)
	}
}

func TestMissingDirectoryIsAnError(t *testing.T) {
	if _, err := Launch(filepath.Join(t.TempDir(), "none")); !os.IsNotExist(errors.Unwrap(err)) {
		t.Errorf("error = %v, want one that says that the directory does not exist", err)
	}
}

func TestRestartOfARunningServerIsAnError(t *testing.T) {
	err := Start(t).restart(time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "still running") {
		t.Errorf("error = %v", err)
	}
}

func TestFreezeAndThawOfADownServerAreErrors(t *testing.T) {
	s := Start(t)
	s.Kill()
	for name, method := range map[string]func() error{"freeze": s.freeze, "thaw": s.thaw} {
		if err := method(); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: error = %v", name, err)
		}
	}
}

// lockedOut starts a server that refuses this package's commands.
func lockedOut(tb testing.TB) *Server {
	s := Start(tb)
	if err := s.Client(tb).ConfigSet(tb.Context(), "requirepass", "other").Err(); err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestRefusedShutdownIsAnError(t *testing.T) {
	s := lockedOut(t)
	if err := s.shutdown(); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("error = %v, want NOAUTH", err)
	}
}

// failingTest stands in for a test that is expected to fail.
type failingTest struct {
	testing.TB
	message string
}

func (f *failingTest) Fatal(args ...any) {
	f.message = fmt.Sprint(args...)
	runtime.Goexit()
}

// failure returns the message with which do fails its test.
func failure(t *testing.T, do func(testing.TB)) string {
	f := &failingTest{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(f)
	}()
	<-done
	return f.message
}

func TestErrorsFailTheTest(t *testing.T) {
	down := func(tb testing.TB) *Server {
		s := Start(tb)
		s.Kill()
		return s
	}
	cases := map[string]func(testing.TB){
		"start":  func(tb testing.TB) { Start(tb, "--no-such-setting", "1") },
		"freeze": func(tb testing.TB) { down(tb).Freeze() },
		"thaw":   func(tb testing.TB) { down(tb).Thaw() },
		"restart": func(tb testing.TB) {
			s := down(tb)
			s.config = append(s.config, "--no-such-setting", "1")
			s.Restart()
		},
		"shutdown": func(tb testing.TB) { lockedOut(tb).Shutdown() },
	}
	for name, do := range cases {
		t.Run(name, func(t *testing.T) {
			if message := failure(t, do); !strings.Contains(message, name) {
				t.Errorf("message = %q, want one about %s", message, name)
			}
		})
	}
}
