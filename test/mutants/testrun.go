package main

import (
	"bufio"
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

// test runs tests of one package until the first one fails. It runs the test binary
// itself: if the go command were killed, the binary would go on. The Redis servers that
// the tests have started end with the binary.
func (t tree) test(ctx context.Context, pkg, run string, timeout time.Duration, verbose bool) verdict {
	binary, err := t.testBinary(ctx, pkg)
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
		_ = in.Close() // the reader has read everything
		ended <- err
	}()
	failure, ran := firstFailure(out, func() { _ = cmd.Process.Kill() }, verbose)
	err = <-ended
	pkg = strings.TrimPrefix(pkg, "./")
	switch {
	case ctx.Err() != nil:
		return verdict{err: ctx.Err()}
	case failure != "":
		return verdict{killedBy: pkg + " " + failure}
	case err != nil:
		return verdict{killedBy: fmt.Sprintf("%s (%v)", pkg, err)}
	case !ran:
		return verdict{err: errors.New("no test of " + pkg + " matches " + run)}
	}
	return verdict{}
}

var (
	failed   = regexp.MustCompile(`^--- FAIL: (\S+)`)
	panicked = regexp.MustCompile(`^(?:panic|fatal error): (.{0,60})`)
	timedOut = regexp.MustCompile(`^panic: (test timed out)`)
	running  = regexp.MustCompile(`^\t\t(Test\S+) \(`)
	leaked   = regexp.MustCompile(`^(goleak: Errors)`)
	begun    = regexp.MustCompile(`^(=== RUN)`)
)

// firstFailure reads the output of tests to its end. It calls stop at the first failure
// and returns that failure in a few words. ran says whether there was a test at all.
func firstFailure(out io.Reader, stop func(), verbose bool) (failure string, ran bool) {
	scanner := bufio.NewScanner(out)
	scanner.Buffer(nil, 1<<24)
	hang := false
	for scanner.Scan() {
		line := scanner.Text()
		if verbose {
			fmt.Printf("    | %s\n", line)
		}
		ran = ran || group(begun, line) != ""
		if failure != "" && !hang {
			continue // the tests are ending
		}
		switch {
		case hang && group(running, line) != "":
			failure, hang = "hang of "+group(running, line), false
			stop()
		case group(failed, line) != "":
			failure = group(failed, line)
			stop()
		case group(timedOut, line) != "":
			failure, hang = "hang", true // the names of the running tests follow
		case group(panicked, line) != "":
			failure = "panic: " + group(panicked, line) // the tests end by themselves
		case group(leaked, line) != "":
			failure = "leak of goroutines"
		}
	}
	return failure, ran
}

// group is what the group of an expression matches in a line, or "".
func group(expression *regexp.Regexp, line string) string {
	if groups := expression.FindStringSubmatch(line); groups != nil {
		return groups[1]
	}
	return ""
}
