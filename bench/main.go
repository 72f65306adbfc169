// Command bench measures redisleader side by side with others: raw go-redis as the floor,
// the locks bsm/redislock, redsync and rueidislock, and client-go's elector on its fake
// clientset. It starts the Redis servers that it needs and prints Markdown. It can also
// write plots and docs/performance.md.
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

// run is the program. It measures, prints and writes what the options ask for.
func run(ctx context.Context, args []string) error {
	opts, err := parseOptions(args, os.Stderr)
	if err != nil {
		return err
	}
	logging.Disable() // go-redis would log each crash, and crashes are measured here
	began := time.Now()
	r, err := measureAll(ctx, opts)
	if err != nil {
		return err
	}
	r.took = time.Since(began)
	fmt.Print(r.markdown())
	return write(r, opts)
}

// measureAll takes the measurements that the options name, in order. If one fails, the
// report says so in its place.
func measureAll(ctx context.Context, opts options) (report, error) {
	server, err := startServer()
	if err != nil {
		return report{}, err
	}
	defer server.stop()
	b := &bench{plan: opts.plan(), server: server}
	r := report{machine: describeMachine(server), plan: b.plan}
	for _, m := range measurements() {
		if !opts.wants(m.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s  %s\n", time.Now().Format(time.TimeOnly), m.name)
		s, err := m.take(ctx, b)
		if ctx.Err() != nil {
			return report{}, fmt.Errorf("%s: %w", m.name, ctx.Err())
		}
		if err != nil {
			s = section{title: m.title, text: notMeasured(err) + "."}
		}
		r.sections = append(r.sections, s)
	}
	return r, nil
}

// write writes the results to the files that the options name.
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

// bench is what the measurements have in common.
type bench struct {
	plan   plan
	server *server
	names  int // that have been used, so that each round has its own
}

// freshName is a name that nothing has competed for.
func (b *bench) freshName(kind string) string {
	b.names++
	return fmt.Sprintf("bench-%s-%d", kind, b.names)
}

// newElection is an election for a fresh name.
func (b *bench) newElection(kind string, t timings) *election {
	return &election{
		addr: b.server.Addr(), name: b.freshName(kind), timings: t, cluster: newCluster(),
	}
}

// measurement is one part of the report.
type measurement struct {
	name  string // for -only
	title string
	take  func(context.Context, *bench) (section, error)
}

func measurements() []measurement {
	return []measurement{
		{"obtain", obtainTitle, takeObtain},
		{"parallel", parallelTitle, takeParallel},
		{"handover", handoverTitle, takeHandover},
		{"takeover", takeoverTitle, takeTakeover},
		{"idle", idleTitle, takeIdle},
		{"footprint", footprintTitle, takeFootprint},
		{"many", manyTitle, takeMany},
	}
}

func measurementNames() string {
	var names []string
	for _, m := range measurements() {
		names = append(names, m.name)
	}
	return strings.Join(names, ", ")
}
