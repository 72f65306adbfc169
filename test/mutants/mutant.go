package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mutant is one patch. Two lines stand before its diff:
//
//	What: what it breaks, in words
//	Run: the package whose tests should fail, and regular expressions for the names of
//	     these tests, with | between them
type mutant struct {
	name  string
	what  string
	pkg   string
	run   string
	patch []byte
}

// changedFile finds the name of each changed file in a diff.
var changedFile = regexp.MustCompile(`(?m)^\+\+\+ b/(\S+)`)

// changed returns the packages whose Go files the patch changes.
func (m mutant) changed() []string {
	var pkgs []string
	for _, file := range changedFile.FindAllStringSubmatch(string(m.patch), -1) {
		if pkg := "./" + path.Dir(file[1]); path.Ext(file[1]) == ".go" && !slices.Contains(pkgs, pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	return pkgs
}

// unknown returns the names in the line Run that match none of a package's tests, which
// is what is left when a test was renamed.
func (m mutant) unknown(tests []string) ([]string, error) {
	var all []string
	for name := range strings.SplitSeq(m.run, "|") {
		test, err := regexp.Compile(name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(tests, test.MatchString) {
			all = append(all, name)
		}
	}
	return all, nil
}

// readMutants reads the patches in dir whose names match.
func readMutants(dir string, only *regexp.Regexp) ([]mutant, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	var mutants []mutant
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".patch")
		if !only.MatchString(name) {
			continue
		}
		m, err := readMutant(name, file)
		if err != nil {
			return nil, err
		}
		mutants = append(mutants, m)
	}
	if len(mutants) == 0 {
		return nil, fmt.Errorf("no mutant in %s matches %q", dir, only)
	}
	return mutants, nil
}

func readMutant(name, file string) (mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return mutant{}, err
	}
	m := mutant{name: name, patch: text}
	header, _, _ := strings.Cut(string(text), "\n--- ")
	for line := range strings.Lines(header) {
		line = strings.TrimSpace(line)
		if what, ok := strings.CutPrefix(line, "What: "); ok {
			m.what = what
		}
		if run, ok := strings.CutPrefix(line, "Run: "); ok {
			m.pkg, m.run, _ = strings.Cut(run, " ")
		}
	}
	if m.what == "" || m.pkg == "" || m.run == "" {
		return mutant{}, fmt.Errorf("%s: the lines What and Run are missing before the diff", file)
	}
	return m, nil
}
