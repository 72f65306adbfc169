// Command bench measures redisleader side by side with what else there is: raw go-redis
// as the floor, the locks bsm/redislock, redsync and rueidislock, and client-go's
// elector on its fake clientset. It starts the Redis servers it needs, prints Markdown,
// and can write plots and docs/performance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9/logging"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	switch {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// run is the program: it measures, prints and writes what the options ask for.
func run(ctx context.Context, args []string) error {
	opts, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	logging.Disable() // crashes are part of the measurements, and go-redis would complain about each
	began := time.Now()
	r, err := measureAll(ctx, opts)
	if err != nil {
		return err
	}
	r.took = time.Since(began)
	fmt.Print(r.markdown())
	return write(r, opts)
}

// measureAll takes the measures that the options name, in order. One that fails is
// reported as such among the results.
func measureAll(ctx context.Context, opts options) (report, error) {
	server, err := startServer()
	if err != nil {
		return report{}, err
	}
	defer server.stop()
	b := &bench{plan: opts.plan(), server: server}
	r := report{machine: describeMachine(ctx, server), plan: b.plan}
	for _, m := range measures() {
		if !opts.wants(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), m.name)
		s, err := m.take(ctx, b)
		if ctx.Err() != nil {
			return report{}, fmt.Errorf("%s: %w", m.name, ctx.Err())
		}
		if err != nil {
			s = section{title: m.title, text: notTaken(err) + "."}
		}
		r.sections = append(r.sections, s)
	}
	return r, nil
}

// write puts the results where the options say.
func write(r report, opts options) error {
	var errs []error
	if opts.svg != "" {
		errs = append(errs, r.writePlots(opts.svg))
	}
	if opts.md != "" {
		errs = append(errs, r.writeInto(opts.md, opts.svg))
	}
	return errors.Join(errs...)
}

// bench is what the measures have in common.
type bench struct {
	plan   plan
	server *server
	rounds int // names in use, so that no two rounds compete for one
}

// freshName is a name that nothing has competed for.
func (b *bench) freshName(kind string) string {
	b.rounds++
	return fmt.Sprintf("bench-%s-%d", kind, b.rounds)
}

// measure is one part of the report.
type measure struct {
	name  string // for -only
	title string
	take  func(context.Context, *bench) (section, error)
}

func measures() []measure {
	return []measure{
		{"obtain", obtainTitle, takeObtain},
		{"parallel", parallelTitle, takeParallel},
		{"handover", handoverTitle, takeHandover},
		{"takeover", takeoverTitle, takeTakeover},
		{"idle", idleTitle, takeIdle},
		{"footprint", footprintTitle, takeFootprint},
		{"many", manyTitle, takeMany},
	}
}

func measureNames() string {
	var names []string
	for _, m := range measures() {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}
