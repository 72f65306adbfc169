package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// suites are the packages whose tests together should kill every mutant.
var suites = []string{"./redislock", "./leader"}

// How long tests may take: those that a mutant names, and all of a package. Longer is a
// failure as well: they hang.
const (
	namedTimeout = 40 * time.Second
	suiteTimeout = 5 * time.Minute
)

// verdict is what became of a mutant.
type verdict struct {
	killedBy string // the first test that failed, and its package; "" if none did
	err      error  // it could not be judged
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

// judge applies a mutant to a copy of the tree and runs the tests, those that it names
// first.
func judge(ctx context.Context, root, base string, m mutant, verbose bool) verdict {
	t, err := newTree(root, base)
	if err == nil {
		err = t.apply(ctx, m.patch)
	}
	if err != nil {
		return verdict{err: err}
	}
	if v := t.test(ctx, m.pkg, m.run, namedTimeout, verbose); v.killedBy != "" || v.err != nil {
		return v
	}
	v := t.testAll(ctx, verbose)
	pkg, test, ok := strings.Cut(v.killedBy, " ")
	if !ok {
		return v
	}
	// On a machine that is short of time a test may fail for another reason. It has to
	// fail again by itself.
	if top, _, _ := strings.Cut(strings.TrimPrefix(test, "hang of "), "/"); strings.HasPrefix(top, "Test") {
		if v = t.test(ctx, "./"+pkg, "^"+top+"$", suiteTimeout, verbose); v.killedBy == "" {
			return v
		}
	}
	v.killedBy += ", which Run does not name"
	return v
}

// testAll runs both suites at a time, because they mostly wait.
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

// test runs tests of one package until the first fails. The binary is run directly,
// since killing the go command would leave it running; the Redis servers that it
// started end with it.
func (t tree) test(ctx context.Context, pkg, run string, timeout time.Duration, verbose bool) verdict {
	binary, err := t.compile(ctx, pkg)
	if err != nil {
		return verdict{err: err}
	}
	cmd := exec.CommandContext(ctx, binary, "-test.v", "-test.failfast", "-test.run="+run, "-test.timeout="+timeout.String())
	cmd.Dir = filepath.Join(t.dir, pkg)
	cmd.Env = append(os.Environ(), "TMPDIR="+t.temp)
	out, in := io.Pipe()
	cmd.Stdout, cmd.Stderr = in, in
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		return verdict{err: err}
	}
	ended := make(chan error, 1)
	go func() {
		err := cmd.Wait()
		_ = in.Close() // whoever reads has read all
		ended <- err
	}()
	failure, ran := firstFailure(out, func() { _ = cmd.Process.Kill() }, verbose)
	err = <-ended
	switch {
	case ctx.Err() != nil:
		return verdict{err: ctx.Err()}
	case failure != "":
		return verdict{killedBy: strings.TrimPrefix(pkg, "./") + " " + failure}
	case err != nil: // such as goroutines left behind
		return verdict{killedBy: fmt.Sprintf("%s (%v)", strings.TrimPrefix(pkg, "./"), err)}
	case !ran:
		return verdict{err: errors.New("no test of " + pkg + " matches " + run)}
	}
	return verdict{}
}

var (
	failed   = regexp.MustCompile(`^--- FAIL: (\S+)`)
	panicked = regexp.MustCompile(`^(?:panic|fatal error): (.{0,60})`)
	timedOut = regexp.MustCompile(`^panic: test timed out`)
	running  = regexp.MustCompile(`^\t\t(Test\S+) \(`)
	leaked   = regexp.MustCompile(`^goleak: Errors`)
)

// firstFailure reads what tests print and calls stop at the first failure, which it
// returns in a few words. ran says that there was a test at all.
func firstFailure(out io.Reader, stop func(), verbose bool) (failure string, ran bool) {
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<24)
	hang := false
	for scanner.Scan() {
		line := scanner.Bytes()
		if verbose {
			fmt.Printf("    | %s\n", line)
		}
		ran = ran || bytes.HasPrefix(line, []byte("=== RUN"))
		if failure != "" && !hang {
			continue // it is being killed
		}
		switch m := (match{line}); {
		case hang && m.of(running) != "":
			failure, hang = "hang of "+m.of(running), false
			stop()
		case m.of(failed) != "":
			failure = m.of(failed)
			stop()
		case timedOut.Match(line):
			failure, hang = "hang", true // the names of the tests follow
		case m.of(panicked) != "":
			failure = "panic: " + m.of(panicked) // and ends by itself
		case leaked.Match(line):
			failure = "leak of goroutines"
		}
	}
	return failure, ran
}

// match finds the first group of expressions in a line.
type match struct{ line []byte }

func (m match) of(expression *regexp.Regexp) string {
	if groups := expression.FindSubmatch(m.line); groups != nil {
		return string(groups[1])
	}
	return ""
}
