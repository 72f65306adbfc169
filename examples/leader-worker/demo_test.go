//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
	"github.com/redisleader/redisleader/internal/redistest"
)

// program is a run of this very program.
type program struct {
	cmd *exec.Cmd

	mu     sync.Mutex
	output bytes.Buffer // standard output and error
}

// Write takes the program's output.
func (p *program) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.Write(text)
}

func (p *program) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.output.String()
}

// startProgram starts it without a terminal, and without the settings of whoever runs
// the test.
func startProgram(t *testing.T, args ...string) *program {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	p := &program{cmd: exec.CommandContext(ctx, executable, args...)}
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REDIS_URL=") })
	p.cmd.Env = append(p.cmd.Env, runAsProgram+"=1")
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	p.cmd.WaitDelay = 5 * time.Second                       // a replica that is left behind must not keep the test waiting
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
		if t.Failed() {
			t.Logf("output:\n%s", p.text())
		}
	})
	return p
}

// exit waits for the end and returns the exit status, -1 after a signal.
func (p *program) exit(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// await waits until the output contains a text.
func (p *program) await(t *testing.T, text string) {
	t.Helper()
	eventually(t, "output "+text, func() bool { return strings.Contains(p.text(), text) })
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}

// number finds the number that stands in the place of %d.
func (p *program) number(t *testing.T, format string) int {
	t.Helper()
	pattern := strings.ReplaceAll(regexp.QuoteMeta(format), "%d", `(\d+)`)
	match := regexp.MustCompile(pattern).FindStringSubmatch(p.text())
	if match == nil {
		t.Fatalf("output lacks %q", format)
	}
	n, err := strconv.Atoi(match[1])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// checkReplicasGone fails if a replica that the program has started still runs.
func (p *program) checkReplicasGone(t *testing.T, atLeast int) {
	t.Helper()
	pids := regexp.MustCompile(`started, pid (\d+)`).FindAllStringSubmatch(p.text(), -1)
	if len(pids) < atLeast {
		t.Errorf("%d replicas were started, want %d", len(pids), atLeast)
	}
	for _, match := range pids {
		pid, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "end of replica "+match[1], func() bool { return !runs(pid) })
	}
}

// runs reports whether a process exists and is more than an entry that nobody has
// removed.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // no such file system
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(state, []byte(" Z"))
}

func checkShown(t *testing.T, p *program) {
	t.Helper()
	if status := p.exit(t); status != exitOK {
		t.Errorf("exit status %d", status)
	}
	if n := p.number(t, "changes of leader: %d"); n < 3 {
		t.Errorf("%d changes of leader", n)
	}
	if n := p.number(t, "late writes rejected: %d"); n < 1 {
		t.Errorf("%d rejected writes", n)
	}
	if n := p.number(t, "stale writes accepted: %d of"); n != 0 {
		t.Errorf("%d stale writes", n)
	}
	for _, want := range []string{"fence token", "gap to next", endHandOver, endCrash, endFreeze, endOfDemo, "REJECTS", "PASSED"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("output lacks %q", want)
		}
	}
	p.checkReplicasGone(t, 5)
}

func TestDemo(t *testing.T) {
	t.Parallel()
	p := startProgram(t)
	status := watchStatus(p)
	checkShown(t, p)
	status.end(t)
	if strings.Contains(p.text(), "\x1b") {
		t.Error("colours without a terminal")
	}
}

func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	p := startProgram(t, "-redis", "redis://:hidden-word@"+server.Addr()+"/0", "-color=always", "-v")
	checkShown(t, p)
	if !strings.Contains(p.text(), "\x1b[") {
		t.Error("no colours with -color=always")
	}
	if strings.Contains(p.text(), "hidden-word") {
		t.Error("the output contains the password")
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestDemoIsInterrupted(t *testing.T) {
	t.Parallel()
	p := startProgram(t)
	p.await(t, "when asked on /leader")                                      // the election is over
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT); err != nil { // to the whole group, as a terminal does
		t.Fatal(err)
	}
	if status := p.exit(t); status != show.ExitInterrupted {
		t.Errorf("exit status %d", status)
	}
	if strings.Contains(p.text(), "FAIL") || !strings.Contains(p.text(), "interrupted") {
		t.Error("an interruption is reported as something else")
	}
	p.checkReplicasGone(t, 3)
	if n := strings.Count(p.text(), "is gone (exit status 0)"); n != 3 {
		t.Errorf("%d of 3 replicas ended in good order", n)
	}
}

// A frozen replica is the one that could survive: it notices nothing.
func TestReplicasDoNotSurviveTheDemo(t *testing.T) {
	t.Parallel()
	p := startProgram(t)
	p.await(t, "freezes replica")
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = p.exit(t)
	p.checkReplicasGone(t, 5)
}

func TestDemoFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	p := startProgram(t, "-redis", "redis://:hidden-word@127.0.0.1:1/0")
	if status := p.exit(t); status != exitFailed {
		t.Errorf("exit status %d", status)
	}
	if text := p.text(); !strings.Contains(text, "-redis") || !strings.Contains(text, "127.0.0.1:1/0") || strings.Contains(text, "hidden-word") {
		t.Error("the error does not say where nobody answers, or says too much")
	}
}
