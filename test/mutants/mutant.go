package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// mutant is one patch. Before the diff stand two lines:
//
//	What: what it breaks, in words
//	Run: the package whose tests should fail, and which of them, as a regular expression
type mutant struct {
	name  string
	what  string
	pkg   string
	run   string
	patch []byte
}

// readMutants reads the patches in dir whose names match.
func readMutants(dir string, match *regexp.Regexp) ([]mutant, error) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.patch"))
	if err != nil {
		return nil, err
	}
	var mutants []mutant
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".patch")
		if !match.MatchString(name) {
			continue
		}
		m, err := readMutant(name, path)
		if err != nil {
			return nil, err
		}
		mutants = append(mutants, m)
	}
	if len(mutants) == 0 {
		return nil, fmt.Errorf("no mutant in %s matches %q", dir, match)
	}
	return mutants, nil
}

func readMutant(name, path string) (mutant, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return mutant{}, err
	}
	m := mutant{name: name, patch: text}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if what, ok := strings.CutPrefix(line, "What: "); ok {
			m.what = what
		}
		if run, ok := strings.CutPrefix(line, "Run: "); ok {
			m.pkg, m.run, _ = strings.Cut(run, " ")
		}
		if strings.HasPrefix(line, "--- ") {
			break
		}
	}
	if m.what == "" || m.pkg == "" || m.run == "" {
		return mutant{}, fmt.Errorf("%s: the lines What and Run are missing before the diff", path)
	}
	return m, nil
}
