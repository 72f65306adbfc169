package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/redistest"
)

// runProgram runs this very program, and returns its output and exit status.
func runProgram(t *testing.T, args ...string) (string, int) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REDIS_URL=") })
	cmd.Env = append(cmd.Env, runAsProgram+"=1")
	cmd.WaitDelay = 5 * time.Second // a replica that is left behind must not keep the test waiting
	output, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output), cmd.ProcessState.ExitCode()
}

func TestDemo(t *testing.T) {
	t.Parallel()
	output, status := runProgram(t, "-for", "4s")
	if status != exitOK {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	for _, want := range []string{"SIGKILL", "catches up on slots", "claimed with the fencing token", "PASSED"} {
		if !strings.Contains(output, want) {
			t.Errorf("output lacks %q:\n%s", want, output)
		}
	}
}

func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	output, status := runProgram(t, "-for", "3s", "-color=always", "-redis", "redis://:hidden-word@"+server.Addr()+"/0")
	if status != exitOK || !strings.Contains(output, "\x1b[") || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestDemoFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:hidden-word@127.0.0.1:1/0", "nonsense://u:hidden-word@h", "redis://u:hidden-word%zz@h"} {
		output, status := runProgram(t, "-redis", url)
		if status != exitFailed || !strings.Contains(output, "-redis") || strings.Contains(output, "hidden-word") {
			t.Errorf("%s: exit status %d: %s", url, status, output)
		}
	}
}
