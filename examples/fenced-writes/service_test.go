package main

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/redistest"
)

// copied is what the package comment says to copy. control.go has to compile with it:
// it is what remains without demo.go.
var copied = []string{"main.go", "fence.go", "schema.sql"}

// TestN4_TheCopiedServiceRuns copies the service into a module of its own, as a user
// does, and runs it.
func TestN4_TheCopiedServiceRuns(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	goCommand := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "go", args...)
		cmd.Dir = module
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd, err, output)
		}
	}
	copyFiles(t, module, "go.mod", "go.sum")
	goCommand("mod", "edit", "-module=example.com/copied", "-replace=github.com/redisleader/redisleader="+root)
	copyFiles(t, module, append(copied, "control.go")...)
	goCommand("build", "-mod=mod", "-o", "service", ".")
	if err := os.Remove(filepath.Join(module, "control.go")); err != nil {
		t.Fatal(err)
	}
	goCommand("build", "-mod=mod", "-o", "service", ".")

	server := redistest.Start(t)
	cmd := exec.CommandContext(t.Context(), filepath.Join(module, "service"))
	cmd.Dir = module
	runService(t, cmd, []string{"REDIS_URL=redis://" + server.Addr() + "/0"}, func() bool {
		db, err := openDatabase(t.Context(), filepath.Join(module, "invoices.db"))
		if err != nil {
			return false
		}
		defer func() { _ = db.Close() }()
		numbers, err := books{db}.column(t.Context(), "number", "invoices")
		return err == nil && len(numbers) >= 3
	})
}

func copyFiles(t *testing.T, to string, names ...string) {
	t.Helper()
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err == nil {
			err = os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// runService runs a service until it works, and asks it to end.
func runService(t *testing.T, cmd *exec.Cmd, env []string, works func() bool) {
	t.Helper()
	var log bytes.Buffer
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), &log
	cmd.WaitDelay = 5 * time.Second
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

// What is wrong with the configuration is said in a line, without the password.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ variable, value string }{
		{"REDIS_URL", "redis://u:hidden-word%zz@h"},
		{"REDIS_URL", "hidden-word"},
		{"LEASE_DURATION", "15"},
		{"DATABASE", "/nowhere/invoices.db"},
	} {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "DEMO=replica", c.variable+"="+c.value)
		stdin, err := cmd.StdinPipe() // a replica ends with whoever holds it
		if err != nil {
			t.Fatal(err)
		}
		output, err := cmd.CombinedOutput()
		_ = stdin.Close()
		text := string(output)
		if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(text, c.variable) || strings.Contains(text, "hidden-word") {
			t.Errorf("%s=%s: %v: %s", c.variable, c.value, err, text)
		}
	}
}
