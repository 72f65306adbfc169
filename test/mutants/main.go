// Command mutants breaks the library on purpose and checks that its tests notice. Each
// patch beside it is one mutant. The command applies the patch to a copy of the module
// and runs the tests that the header of the patch names, one of which has to fail. If
// they pass, it runs all tests of the suites. If these pass too, the mutant has
// survived: a test is missing.
//
// A patch has to fit exactly, because git apply allows no fuzz. Its lines may have
// moved, as long as their text is the same; -check reports that, so that a patch which
// has slipped to a similar place is noticed.
//
// The exit status is 1 if a mutant survives, if the tests fail without any, or if a
// patch does not apply or compile or names a test that does not exist.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// options are the flags of the command.
type options struct {
	only     string
	list     bool
	check    bool
	parallel int
	baseline bool
	verbose  bool
}

func main() {
	var o options
	flag.StringVar(&o.only, "only", "", "use the mutants whose names match this regular expression")
	flag.BoolVar(&o.list, "list", false, "print the mutants, the tests that they name and what they break, and run nothing")
	flag.BoolVar(&o.check, "check", false, "check that the patches apply, compile and name tests that exist, and run no tests")
	flag.IntVar(&o.parallel, "parallel", max(1, runtime.NumCPU()/4),
		"how many mutants to test at a time; the tests depend on timing and need room")
	flag.BoolVar(&o.baseline, "baseline", true,
		"first run all tests without a mutation; -baseline=false saves a minute while working on a mutant")
	flag.BoolVar(&o.verbose, "v", false, "print the output of the tests")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		stop()
		os.Exit(1)
	}
}

// run does what the flags ask for. It returns an error if anything is not as it should
// be.
func run(ctx context.Context, o options) error {
	only, err := regexp.Compile(o.only)
	if err != nil {
		return err
	}
	root, err := findRoot()
	if err != nil {
		return err
	}
	mutants, err := readMutants(filepath.Join(root, "test", "mutants"), only)
	if err != nil {
		return err
	}
	if o.list {
		list(mutants)
		return nil
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	// All mutants start from the tree as it is now, even if somebody edits
	// it while the run goes on.
	original, err := newTree(root, filepath.Join(temp, "original"))
	if err != nil {
		return err
	}
	return runner{original, temp, o}.run(ctx, mutants)
}

func list(mutants []mutant) {
	for _, m := range mutants {
		fmt.Printf("%s\n    %s %s\n    %s\n", m.name, m.pkg, m.run, m.what)
	}
}

// findRoot is the directory of the module: this one, or one above it.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "test", "mutants")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("no module with test/mutants here or above")
		}
		dir = filepath.Dir(dir)
	}
	return "", err
}

// seconds is the time since begin, for the end of a line.
func seconds(begin time.Time) string { return fmt.Sprintf("(%.0f s)", time.Since(begin).Seconds()) }
