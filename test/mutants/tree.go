package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// tree is a copy of the module, with room for what the tests leave behind.
type tree struct{ dir, temp string }

// newTree copies the module at root into base. It replaces an earlier copy there, so
// packages that a mutant does not touch are found in the build cache.
func newTree(root, base string) (tree, error) {
	t := tree{filepath.Join(base, "redisleader"), filepath.Join(base, "tmp")}
	if err := os.RemoveAll(base); err != nil {
		return t, err
	}
	if err := os.MkdirAll(t.temp, 0o700); err != nil {
		return t, err
	}
	return t, copyModule(root, t.dir)
}

// copyModule copies everything but hidden files and directories, such as .git.
func copyModule(from, to string) error {
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		if err := copyEntry(filepath.Join(from, entry.Name()), filepath.Join(to, entry.Name()), entry.IsDir()); err != nil {
			return err
		}
	}
	return nil
}

func copyEntry(from, to string, isDir bool) error {
	if isDir {
		return os.CopyFS(to, os.DirFS(from))
	}
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o600)
}

// apply applies a patch.
func (t tree) apply(ctx context.Context, patch []byte) error {
	_, err := t.gitApply(ctx, patch)
	return err
}

// applies checks that a patch applies and changes nothing. The offset says by how much
// the lines of the first hunk that has moved have done so; "" if none has.
func (t tree) applies(ctx context.Context, patch []byte) (offset string, err error) {
	out, err := t.gitApply(ctx, patch, "--check", "--verbose")
	_, offset, _ = strings.Cut(out, "(offset ")
	offset, _, _ = strings.Cut(offset, ")")
	return offset, err
}

// gitApply runs git apply, which does the same on all platforms and insists on the
// context of each hunk.
func (t tree) gitApply(ctx context.Context, patch []byte, flags ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"apply"}, append(flags, "-")...)...)
	cmd.Dir = t.dir
	cmd.Stdin = bytes.NewReader(patch)
	// The copy is no repository. If its directory happens to lie in one, git must not
	// take the copy for a part of it. The texts that applies reads are not translated.
	cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(t.dir), "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("does not apply: %s", cmp.Or(rejections(string(out)), err.Error()))
	}
	return string(out), nil
}

// rejections says in one line which hunks git apply has rejected, by file and line.
func rejections(out string) string {
	var all []string
	for line := range strings.Lines(out) {
		what, ok := strings.CutPrefix(strings.TrimSpace(line), "error: ")
		if ok && what != "while searching for:" && !strings.HasSuffix(what, ": patch does not apply") {
			all = append(all, strings.TrimPrefix(what, "patch failed: "))
		}
	}
	return strings.Join(all, ", ")
}

// testFunction finds the name of each test in a Go file.
var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// tests returns the names of the tests of a package.
func (t tree) tests(pkg string) ([]string, error) {
	files, err := filepath.Glob(filepath.Join(t.dir, pkg, "*_test.go"))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		for _, function := range testFunction.FindAllStringSubmatch(string(text), -1) {
			names = append(names, function[1])
		}
	}
	return names, nil
}

// compiles checks that packages compile. It leaves out their tests and the packages
// that import them, which take most of the time and hardly ever depend on what a mutant
// changes.
func (t tree) compiles(ctx context.Context, pkgs []string) error {
	if len(pkgs) == 0 {
		return nil
	}
	return t.goTool(ctx, append([]string{"build"}, pkgs...)...)
}

// testBinary compiles the tests of a package.
func (t tree) testBinary(ctx context.Context, pkg string) (string, error) {
	binary := filepath.Join(t.temp, filepath.Base(pkg)+".test.exe")
	return binary, t.goTool(ctx, "test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary, pkg)
}

func (t tree) goTool(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = t.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("does not compile: %w\n%s", err, bytes.TrimSpace(out))
	}
	return nil
}
