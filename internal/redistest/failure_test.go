package redistest

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
)

// witness stands in for a test that is expected to fail.
type witness struct {
	testing.TB
	message string
}

func (w *witness) Fatal(args ...any) {
	w.message = fmt.Sprint(args...)
	runtime.Goexit()
}

func (w *witness) Fatalf(format string, args ...any) {
	w.Fatal(fmt.Sprintf(format, args...))
}

// failure returns the message with which do fails its test.
func failure(t *testing.T, do func(testing.TB)) string {
	w := &witness{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		do(w)
	}()
	<-done
	return w.message
}

func TestMissingBinarySaysHowToInstall(t *testing.T) {
	_, err := findBinary("no-such-redis", "/no/such/redis")
	if err == nil || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("error = %v, want one that says how to install", err)
	}
}

func TestBadConfigFailsWithLog(t *testing.T) {
	message := failure(t, func(tb testing.TB) { Start(tb, "--no-such-setting", "1") })
	if !strings.Contains(message, "FATAL CONFIG FILE ERROR") {
		t.Errorf("message = %q, want the server's own", message)
	}
}

func TestRestartOfARunningServerFails(t *testing.T) {
	message := failure(t, func(tb testing.TB) { Start(tb).restart(time.Millisecond) })
	if !strings.Contains(message, "still runs") {
		t.Errorf("message = %q", message)
	}
}

func TestFreezeOfADownServerFails(t *testing.T) {
	message := failure(t, func(tb testing.TB) {
		s := Start(tb)
		s.Kill()
		s.Freeze()
	})
	if !strings.Contains(message, "freeze") {
		t.Errorf("message = %q", message)
	}
}

func TestRefusedShutdownFails(t *testing.T) {
	message := failure(t, func(tb testing.TB) {
		s := Start(tb)
		if err := s.Client(t).ConfigSet(t.Context(), "requirepass", "other").Err(); err != nil {
			t.Error(err)
		}
		s.Shutdown()
	})
	if !strings.Contains(message, "NOAUTH") {
		t.Errorf("message = %q", message)
	}
}
