// Package exampletest is what the tests of the examples share: to play their show, to copy
// the service into a module of its own as a user does, to run that, and to see that a wrong
// configuration is refused.
package exampletest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// root is the repository, seen from an example.
const root = "../.."

// CopyFiles copies files into a directory, under their own names.
func CopyFiles(t *testing.T, to string, names ...string) {
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

// NewModule returns the directory of a new module outside the repository. It requires the
// library, and what that requires in the versions that are in the module cache.
func NewModule(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	library, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(library), "\n") // after its module line
	module := "module example.com/copied\n" + requires + "\nrequire github.com/redisleader/redisleader v0.0.0\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(module), 0o600); err != nil {
		t.Fatal(err)
	}
	CopyFiles(t, dir, filepath.Join(root, "go.sum"))
	UseLibrary(t, dir)
	return dir
}

// UseLibrary has a module use the library as it is in the repository.
func UseLibrary(t *testing.T, dir string) {
	t.Helper()
	library, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	Go(t, dir, "mod", "edit", "-module=example.com/copied", "-replace=github.com/redisleader/redisleader="+library)
}

// Build builds the program in a module and returns its path.
func Build(t *testing.T, dir string) string {
	t.Helper()
	Go(t, dir, "build", "-mod=mod", "-o", "service", ".")
	return filepath.Join(dir, "service")
}

// Go runs the go command in a directory.
func Go(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, output)
	}
}
