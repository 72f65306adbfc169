package exampletest

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// waitDelay is how long a process that was left behind can keep a test waiting.
const waitDelay = 5 * time.Second

// Play plays the show of an example, as the program does, and returns its output and exit
// status. The test fails if the show leaves a file behind.
func Play(t *testing.T, args ...string) (string, int) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, executable, args...)
	cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REDIS_URL=") })
	temporary := t.TempDir()
	cmd.Env = append(cmd.Env, "DEMO=play", "TMPDIR="+temporary)
	cmd.WaitDelay = waitDelay
	output, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatalf("%v\n%s", err, output)
	}
	if left, err := filepath.Glob(filepath.Join(temporary, "*")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
	return string(output), cmd.ProcessState.ExitCode()
}

// RunService runs a service with additions to its environment until it works, and asks it
// to end. The test fails unless it has led, and ends well and soon.
func RunService(t *testing.T, cmd *exec.Cmd, env []string, works func() bool) {
	t.Helper()
	var log bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), &log
	cmd.WaitDelay = waitDelay
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); !works() && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	worked := works()
	start := time.Now()
	err := errors.Join(cmd.Process.Signal(syscall.SIGTERM), cmd.Wait())
	if !worked || err != nil || time.Since(start) > 5*time.Second || !strings.Contains(log.String(), "Became leader") {
		t.Errorf("works: %t; ended %v after SIGTERM with %v:\n%s", worked, time.Since(start), err, &log)
	}
}

// RefusesSetting runs this program as a replica with one setting, such as "PERIOD=often".
// The test fails unless it says in a line which variable is wrong, without the password
// "hidden-word", and exits with 1.
func RefusesSetting(t *testing.T, setting string) {
	t.Helper()
	variable, _, _ := strings.Cut(setting, "=")
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DEMO=replica", setting)
	stdin, err := cmd.StdinPipe() // a replica ends with whoever holds it
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.CombinedOutput()
	_ = stdin.Close()
	text := string(output)
	if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text, variable) || strings.Contains(text, "hidden-word") {
		t.Errorf("%s: %v: %s", setting, err, text)
	}
}
