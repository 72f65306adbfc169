package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redisleader/redisleader/internal/exampletest"
	"github.com/redisleader/redisleader/internal/redistest"
)

// copied is what the package comment says to copy. control.go has to compile with it:
// it is what remains without demo.go.
var copied = []string{"main.go", "fence.go", "schema.sql"}

// TestN4_TheCopiedServiceRuns copies the service into a module of its own, as a user
// does, and runs it.
func TestN4_TheCopiedServiceRuns(t *testing.T) {
	t.Parallel()
	module := t.TempDir()
	exampletest.CopyFiles(t, module, "go.mod", "go.sum")
	exampletest.UseLibrary(t, module)
	exampletest.CopyFiles(t, module, append(copied, "control.go")...)
	exampletest.Build(t, module)
	if err := os.Remove(filepath.Join(module, "control.go")); err != nil {
		t.Fatal(err)
	}

	server := redistest.Start(t)
	cmd := exec.CommandContext(t.Context(), exampletest.Build(t, module))
	cmd.Dir = module
	exampletest.RunService(t, cmd, []string{"REDIS_URL=redis://" + server.Addr() + "/0"}, func() bool {
		db, err := openDatabase(t.Context(), filepath.Join(module, "invoices.db"))
		if err != nil {
			return false
		}
		defer func() { _ = db.Close() }()
		numbers, err := books{db}.column(t.Context(), "number", "invoices")
		return err == nil && len(numbers) >= 3
	})
}

// What is wrong with the configuration is said in a line, without the password.
func TestConfiguration(t *testing.T) {
	t.Parallel()
	for _, setting := range []string{
		"REDIS_URL=redis://u:hidden-word%zz@h",
		"REDIS_URL=hidden-word",
		"LEASE_DURATION=15",
		"DATABASE=/nowhere/invoices.db",
	} {
		exampletest.RefusesSetting(t, setting)
	}
}
