package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/exampletest"
	"github.com/redisleader/redisleader/internal/redistest"
)

// copied is what the package comment says to copy. control.go has to compile with it:
// it is what remains without demo.go.
var copied = []string{"main.go", "slots.go", "run_slot.lua"}

// TestN4_TheCopiedServiceRuns copies the service into a module of its own, as a user
// does, and runs it.
func TestN4_TheCopiedServiceRuns(t *testing.T) {
	t.Parallel()
	module := exampletest.NewModule(t)
	exampletest.CopyFiles(t, module, append(copied, "control.go")...)
	exampletest.Build(t, module)
	if err := os.Remove(filepath.Join(module, "control.go")); err != nil {
		t.Fatal(err)
	}

	server := redistest.Start(t)
	exampletest.RunService(t, exec.CommandContext(t.Context(), exampletest.Build(t, module)),
		[]string{"REDIS_URL=redis://" + server.Addr() + "/0", "PERIOD=100ms"},
		func() bool { return len((slots{server.Client(t), "scheduled-job"}).ran(t)) >= 3 })
}

// A second signal is heeded while the end takes long, here because Redis hangs.
func TestN7_ASecondSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), "DEMO=replica", "REDIS_URL=redis://"+server.Addr()+"/0", "PERIOD=100ms")
	stdin, err := cmd.StdinPipe() // a replica ends with whoever holds it
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stdin.Close() }()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	store := slots{server.Client(t), "scheduled-job"}
	for deadline := time.Now().Add(20 * time.Second); len(store.ran(t)) == 0 && time.Now().Before(deadline); {
		time.Sleep(10 * time.Millisecond)
	}
	server.Freeze()
	defer server.Thaw()
	start := time.Now()
	signalled := cmd.Process.Signal(syscall.SIGTERM)
	time.Sleep(200 * time.Millisecond) // two signals that are pending at once are one
	signalled = errors.Join(signalled, cmd.Process.Signal(syscall.SIGTERM))
	err = cmd.Wait()
	if took := time.Since(start); signalled != nil || took > time.Second || !strings.Contains(cmd.ProcessState.String(), "terminated") {
		t.Errorf("ended after %v: %v, %v", took, err, signalled)
	}
}

// What is wrong with the configuration is said in a line, without the password.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{
		"REDIS_URL=redis://u:hidden-word%zz@h",
		"REDIS_URL=hidden-word",
		"LEASE_DURATION=15",
		"PERIOD=often",
		"PERIOD=-1s",
	} {
		exampletest.RefusesSetting(t, setting)
	}
}
