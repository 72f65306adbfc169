// Command mutants breaks the library on purpose and sees whether its tests notice. Each
// patch beside it is one mutant: it is applied to a fresh copy of the tree, and the
// tests that its header names have to fail. If they pass, all tests of redislock and
// leader get their chance; if these pass too, the mutant has survived, and a test is
// missing.
//
// It exits with 1 if a mutant survives, if the tests fail without any, or if a patch
// does not apply or compile.
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
	"sync"
	"time"
)

func main() {
	only := flag.String("only", "", "run the mutants whose name matches this regular expression")
	parallel := flag.Int("parallel", max(1, runtime.NumCPU()/4), "mutants at a time; the tests have timing to watch and need room")
	unchecked := flag.Bool("unchecked", false, "do not run all tests without a mutation first, to save a minute while working on a mutant")
	verbose := flag.Bool("v", false, "print what the tests print")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := run(ctx, *only, *parallel, !*unchecked, *verbose)
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
	}
	if err != nil || !ok {
		stop()
		os.Exit(1)
	}
}

// run prints the verdict on each mutant and reports whether all of them were killed.
func run(ctx context.Context, only string, parallel int, check, verbose bool) (bool, error) {
	match, err := regexp.Compile(only)
	if err != nil {
		return false, err
	}
	root, err := findRoot()
	if err != nil {
		return false, err
	}
	mutants, err := readMutants(filepath.Join(root, "test", "mutants"), match)
	if err != nil {
		return false, err
	}
	temp, err := os.MkdirTemp("", "mutants")
	if err != nil {
		return false, err
	}
	defer func() { _ = os.RemoveAll(temp) }()
	begin := time.Now()
	// The tree as it is now, whatever somebody edits meanwhile. A test that fails there
	// kills nothing.
	original, err := newTree(root, filepath.Join(temp, "original"))
	if err != nil {
		return false, err
	}
	if check {
		if v := original.testAll(ctx, verbose); v != (verdict{}) {
			return false, fmt.Errorf("without a mutation: %v", v)
		}
		fmt.Printf("%-44s passes all tests (%.0f s)\n", "without a mutation", time.Since(begin).Seconds())
	}
	verdicts := judgeAll(ctx, original.dir, temp, mutants, parallel, verbose)
	return summarize(mutants, verdicts, time.Since(begin)), ctx.Err()
}

// judgeAll judges some mutants at a time, each in a directory of its own, and prints
// each verdict as it comes.
func judgeAll(ctx context.Context, root, temp string, mutants []mutant, parallel int, verbose bool) []verdict {
	verdicts := make([]verdict, len(mutants))
	next := make(chan int)
	var all sync.WaitGroup
	for worker := range parallel {
		all.Go(func() {
			base := filepath.Join(temp, fmt.Sprint(worker))
			for i := range next {
				begin := time.Now()
				verdicts[i] = judge(ctx, root, base, mutants[i], verbose)
				fmt.Printf("%-44s %s (%.0f s)\n", mutants[i].name, verdicts[i], time.Since(begin).Seconds())
			}
		})
	}
	for i := range mutants {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	all.Wait()
	return verdicts
}

// summarize prints the counts, and those of the mutants that were not killed with what
// they break.
func summarize(mutants []mutant, verdicts []verdict, took time.Duration) bool {
	killed := 0
	for _, v := range verdicts {
		if v.killedBy != "" {
			killed++
		}
	}
	fmt.Printf("\n%d of %d mutants killed in %s\n", killed, len(mutants), took.Round(time.Second))
	for i, v := range verdicts {
		if v.killedBy == "" {
			fmt.Printf("\n%s: %s\n    %s\n", mutants[i].name, v, mutants[i].what)
		}
	}
	return killed == len(mutants)
}

// findRoot is the directory of the module, from here upwards.
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
