package main

import (
	"context"
	"strings"
	"time"
)

// suites are the packages whose tests together should kill every mutant.
var suites = []string{"./redislock", "./redislock/announce", "./leader"}

// How long tests may take: those that a mutant names, and all of a package. If they
// take longer, they hang, which counts as a failure.
const (
	namedTimeout = 40 * time.Second
	suiteTimeout = 5 * time.Minute
)

// verdict is what the tests say about a mutant.
type verdict struct {
	killedBy string // the package and the first test that failed; "" if none did
	err      error  // why there is no answer
}

func (v verdict) String() string {
	switch {
	case v.err != nil:
		return "ERROR: " + v.err.Error()
	case v.killedBy == "":
		return "SURVIVED"
	}
	return "killed by " + v.killedBy
}

// judge runs the tests against a tree to which a mutant was applied, first those that
// the mutant names.
func (t tree) judge(ctx context.Context, m mutant, verbose bool) verdict {
	if v := t.test(ctx, m.pkg, m.run, namedTimeout, verbose); v != (verdict{}) {
		return v
	}
	v := t.testAll(ctx, verbose)
	pkg, test, ok := strings.Cut(v.killedBy, " ")
	if !ok {
		return v
	}
	// On a busy machine a test may fail for another reason. It has to fail again on its
	// own.
	if top, _, _ := strings.Cut(strings.TrimPrefix(test, "hang of "), "/"); strings.HasPrefix(top, "Test") {
		if v = t.test(ctx, "./"+pkg, "^"+top+"$", suiteTimeout, verbose); v.killedBy == "" {
			return v
		}
	}
	v.killedBy += ", which Run does not name"
	return v
}

// testAll runs all suites at the same time, because they mostly wait, and returns the
// first failure.
func (t tree) testAll(ctx context.Context, verbose bool) (first verdict) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	verdicts := make(chan verdict)
	for _, pkg := range suites {
		go func() { verdicts <- t.test(ctx, pkg, ".", suiteTimeout, verbose) }()
	}
	for range suites {
		if v := <-verdicts; first == (verdict{}) && v != first {
			first = v
			cancel()
		}
	}
	return first
}
