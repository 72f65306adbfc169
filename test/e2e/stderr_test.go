package e2e

import (
	"strings"
	"testing"
)

// stderrErrors is what a process printed on its standard error, without the lines of
// go-redis, which logs each connection that fails.
func stderrErrors(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "redis: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func TestLinesOfGoRedisAreNotErrors(t *testing.T) {
	noise := "redis: 2026/11/29 14:00:00 pool.go:500: redis: connection pool: failed to dial\n"
	if got := stderrErrors(noise + "panic: x\n" + noise + "\ngoroutine 1\n"); got != "panic: x\n\ngoroutine 1\n" {
		t.Errorf("stderrErrors = %q", got)
	}
}
