//go:build unix

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
)

// What the documentation says to copy is a service by itself: in a module of its own,
// outside the repository, it compiles, leads, and ends as it should.
func TestACopyOfTheServiceWorksByItself(t *testing.T) {
	t.Parallel()
	dir := copyService(t)
	build := exec.CommandContext(t.Context(), "go", "build", "-o", "service", ".")
	build.Dir = dir
	build.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	server := redistest.Start(t)
	p := start(t, filepath.Join(dir, "service"), []string{"REDIS_URL=redis://" + server.Addr(), "HTTP_ADDR=127.0.0.1:0"})
	p.await(t, "Became leader")
	r := register{server.Client(t), "leader-worker"}
	eventually(t, "writes", func() bool { n, err := r.read(t.Context()); return err == nil && n > 0 })
	p.signal(syscall.SIGTERM)
	if status := p.exit(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// copyService copies all but demo.go and the tests into a new module. It requires what the
// library requires, in the versions that are in the module cache.
func copyService(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if file != "demo.go" && !strings.HasSuffix(file, "_test.go") {
			copyFile(t, file, filepath.Join(dir, file))
		}
	}
	library, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(library), "\n") // after its module line
	module := "module example.com/service\n" + requires +
		"\nrequire github.com/redisleader/redisleader v0.0.0\nreplace github.com/redisleader/redisleader => " + repository + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	copyFile(t, filepath.Join(repository, "go.sum"), filepath.Join(dir, "go.sum"))
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
