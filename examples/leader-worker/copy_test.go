//go:build unix

package main

import (
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/redisleader/redisleader/internal/exampletest"
	"github.com/redisleader/redisleader/internal/redistest"
)

// What the documentation says to copy is a service by itself: in a module of its own,
// outside the repository, it compiles, leads, and ends as it should.
func TestACopyOfTheServiceWorksByItself(t *testing.T) {
	t.Parallel()
	dir := exampletest.NewModule(t)
	exampletest.CopyFiles(t, dir, serviceFiles(t)...)
	service := exampletest.Build(t, dir)
	server := redistest.Start(t)
	p := start(t, service, []string{"REDIS_URL=redis://" + server.Addr(), "HTTP_ADDR=127.0.0.1:0"})
	p.await(t, "Became leader")
	r := register{server.Client(t), "leader-worker"}
	eventually(t, "writes", func() bool { n, err := r.read(t.Context()); return err == nil && n > 0 })
	p.signal(syscall.SIGTERM)
	if status := p.exit(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// serviceFiles are all files of the example but demo.go and the tests.
func serviceFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool {
		return file == "demo.go" || strings.HasSuffix(file, "_test.go")
	})
}
