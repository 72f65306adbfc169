package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// runner tests mutants of a tree.
type runner struct {
	original tree
	temp     string
	options
}

// run checks all patches, before it spends time on any of them, and then compiles or
// tests each mutant.
func (r runner) run(ctx context.Context, mutants []mutant) error {
	usable, err := r.usable(ctx, mutants)
	if r.check {
		return errors.Join(err, r.compileAll(ctx, usable))
	}
	if err != nil {
		return err
	}
	if r.baseline {
		begin := time.Now()
		if v := r.original.testAll(ctx, r.verbose); v != (verdict{}) {
			return fmt.Errorf("without a mutation: %v", v)
		}
		fmt.Printf("%-44s passes all tests %s\n", "without a mutation", seconds(begin))
	}
	return r.testAll(ctx, mutants)
}

// usable returns the mutants whose patches apply and name tests that exist. It prints
// what is wrong with all others.
func (r runner) usable(ctx context.Context, mutants []mutant) ([]mutant, error) {
	var all []mutant
	for _, m := range mutants {
		err := errors.Join(r.checkPatch(ctx, m), r.checkTests(m))
		if err != nil {
			fmt.Printf("%-44s %s\n", m.name, strings.ReplaceAll(err.Error(), "\n", "; "))
			continue
		}
		all = append(all, m)
	}
	if n := len(mutants) - len(all); n > 0 {
		return all, errors.Join(fmt.Errorf("%d of %d patches do not fit", n, len(mutants)), ctx.Err())
	}
	return all, ctx.Err()
}

// checkPatch checks that a patch applies. With -check it also prints whether the lines
// of the patch have moved.
func (r runner) checkPatch(ctx context.Context, m mutant) error {
	offset, err := r.original.applies(ctx, m.patch)
	if offset != "" && r.check {
		fmt.Printf("%-44s applies %s away from where it says\n", m.name, offset)
	}
	return err
}

// checkTests checks that the tests exist that a mutant names.
func (r runner) checkTests(m mutant) error {
	tests, err := r.original.tests(m.pkg)
	if err != nil {
		return err
	}
	unknown, err := m.unknown(tests)
	if err != nil || len(unknown) == 0 {
		return err
	}
	return fmt.Errorf("%s has no test %s", m.pkg, strings.Join(unknown, " or "))
}

// compileAll checks that all mutants compile.
func (r runner) compileAll(ctx context.Context, mutants []mutant) error {
	if err := r.original.compiles(ctx, suites); err != nil {
		return fmt.Errorf("without a mutation: %w", err)
	}
	verdicts := r.each(ctx, mutants, func(t tree, m mutant) verdict {
		return verdict{err: t.compiles(ctx, m.changed())}
	})
	failed := 0
	for i, v := range verdicts {
		if v.err != nil {
			failed++
			fmt.Printf("%-44s %v\n", mutants[i].name, v)
		}
	}
	if failed > 0 {
		return errors.Join(fmt.Errorf("%d of %d mutants do not compile", failed, len(mutants)), ctx.Err())
	}
	fmt.Printf("%d mutants compile\n", len(mutants))
	return ctx.Err()
}

// testAll tests all mutants, prints each verdict as it comes, and in the end the
// mutants that were not killed with what they break.
func (r runner) testAll(ctx context.Context, mutants []mutant) error {
	begin := time.Now()
	verdicts := r.each(ctx, mutants, func(t tree, m mutant) verdict {
		begin := time.Now()
		v := t.judge(ctx, m, r.verbose)
		fmt.Printf("%-44s %s %s\n", m.name, v, seconds(begin))
		return v
	})
	killed := 0
	for i, v := range verdicts {
		if v.killedBy != "" {
			killed++
			continue
		}
		fmt.Printf("\n%s: %s\n    %s\n", mutants[i].name, v, mutants[i].what)
	}
	fmt.Printf("\n%d of %d mutants killed %s\n", killed, len(mutants), seconds(begin))
	if killed < len(mutants) {
		return errors.Join(fmt.Errorf("%d of %d mutants were not killed", len(mutants)-killed, len(mutants)), ctx.Err())
	}
	return ctx.Err()
}

// each applies every mutant to a tree and calls do with it, r.parallel of them at a
// time and each in a directory of its own. Mutants that it has not come to when ctx
// ends have the error of ctx.
func (r runner) each(ctx context.Context, mutants []mutant, do func(tree, mutant) verdict) []verdict {
	verdicts := make([]verdict, len(mutants))
	next := make(chan int)
	var workers sync.WaitGroup
	for worker := range r.parallel {
		workers.Go(func() {
			base := filepath.Join(r.temp, fmt.Sprint(worker))
			for i := range next {
				verdicts[i] = r.apply(ctx, base, mutants[i], do)
			}
		})
	}
	for i := range mutants {
		next <- i
	}
	close(next)
	workers.Wait()
	return verdicts
}

// apply applies a mutant to a new copy in base and calls do with it.
func (r runner) apply(ctx context.Context, base string, m mutant, do func(tree, mutant) verdict) verdict {
	if ctx.Err() != nil {
		return verdict{err: ctx.Err()}
	}
	t, err := newTree(r.original.dir, base)
	if err == nil {
		err = t.apply(ctx, m.patch)
	}
	if err != nil {
		return verdict{err: err}
	}
	return do(t, m)
}
