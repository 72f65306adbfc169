package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
	"github.com/redisleader/redisleader/internal/redistest"
)

// runProgram runs this very program with a directory of its own for temporary files,
// and returns its output and exit status.
func runProgram(t *testing.T, args ...string) (string, int) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Second)
	defer cancel()
	temporary := t.TempDir()
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REDIS_URL=") })
	cmd.Env = append(cmd.Env, runAsProgram+"=1", "TMPDIR="+temporary)
	cmd.WaitDelay = 5 * time.Second // a replica that is left behind must not keep the test waiting
	output, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%v\n%s", err, output)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	return string(output), cmd.ProcessState.ExitCode()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	output, status := runProgram(t)
	if status != exitOK {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	wanted := []string{"SIGKILL", "fence token", "PASSED"}
	if show.CanFreeze {
		wanted = append(wanted, "SIGSTOP", "ROLLS BACK its late write")
	}
	for _, want := range wanted {
		if !strings.Contains(output, want) {
			t.Errorf("output lacks %q:\n%s", want, output)
		}
	}
}

func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	output, status := runProgram(t, "-color=always", "-redis", "redis://:hidden-word@"+server.Addr()+"/0")
	if status != exitOK || !strings.Contains(output, "\x1b[") || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestDemoFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	output, status := runProgram(t, "-redis", "redis://:hidden-word@127.0.0.1:1/0")
	if status != exitFailed || !strings.Contains(output, "-redis") || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d: %s", status, output)
	}
}
