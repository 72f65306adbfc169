//go:build unix

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// program is a run of a program, this one or a copy.
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

// startSelf starts this program; mode is what DEMO says.
func startSelf(t *testing.T, mode string, env []string, args ...string) *program {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return start(t, executable, append(env, "DEMO="+mode), args...)
}

// start starts a program without a terminal, and without the settings of whoever runs the
// test.
func start(t *testing.T, executable string, env []string, args ...string) *program {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	p := &program{cmd: exec.CommandContext(ctx, executable, args...)}
	p.cmd.Env = slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "REDIS_URL=") })
	p.cmd.Env = append(p.cmd.Env, env...)
	p.cmd.Stdout, p.cmd.Stderr = p, p
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // as a shell does
	// A replica left behind must not keep the test waiting.
	p.cmd.WaitDelay = 5 * time.Second
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

// signal sends a signal to the program alone.
func (p *program) signal(s syscall.Signal) { _ = p.cmd.Process.Signal(s) }

// exit waits for the end and returns the exit status, -1 after a signal.
func (p *program) exit(t *testing.T) int {
	t.Helper()
	if err := p.cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// await waits until the output has a text.
func (p *program) await(t *testing.T, text string) {
	t.Helper()
	eventually(t, "output "+text, func() bool { return strings.Contains(p.text(), text) })
}

var addressPattern = regexp.MustCompile(`"msg":"Listening","address":"([^"]+)"`)

// get asks the program for one of its endpoints.
func (p *program) get(t *testing.T, path string) (int, string) {
	t.Helper()
	p.await(t, `"Listening"`)
	client := &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	response, err := client.Get("http://" + addressPattern.FindStringSubmatch(p.text())[1] + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}
