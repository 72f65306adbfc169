package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// copied is what the tests of the suites need of the tree.
var copied = []string{"go.mod", "go.sum", "README.md", "internal", "redislock", "leader"}

// tree is a copy of the module with room for what the tests leave behind.
type tree struct{ dir, temp string }

// newTree makes a copy in base, in the place of an earlier one: what a mutant leaves
// alone is then in the build cache.
func newTree(root, base string) (tree, error) {
	t := tree{filepath.Join(base, "redisleader"), filepath.Join(base, "tmp")}
	if err := os.RemoveAll(base); err != nil {
		return t, err
	}
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return t, err
	}
	for _, name := range copied {
		if err := copyAny(filepath.Join(root, name), filepath.Join(t.dir, name)); err != nil {
			return t, err
		}
	}
	return t, nil
}

// copyAny copies a file, or a directory with all that is in it.
func copyAny(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	if info.IsDir() {
		return os.CopyFS(to, os.DirFS(from))
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// apply applies a patch. git does it the same way on all platforms, and insists on the
// context.
func (t tree) apply(ctx context.Context, patch []byte) error {
	cmd := exec.CommandContext(ctx, "git", "apply", "-")
	cmd.Dir = t.dir
	cmd.Stdin = bytes.NewReader(patch)
	// The copy is no repository, and must not be taken for a part of one that its
	// directory happens to be in.
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.dir))
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("the patch does not apply: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// compile makes the test binary of a package.
func (t tree) compile(ctx context.Context, pkg string) (binary string, err error) {
	binary = filepath.Join(t.temp, filepath.Base(pkg)+".test.exe")
	cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, pkg)
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s does not compile: %w\n%s", pkg, err, bytes.TrimSpace(out))
	}
	return binary, nil
}
