// Command leader-worker shows leader election at work, with nothing to set up:
//
//	go run ./examples/leader-worker
//
// It starts an embedded Redis, a resource that is guarded by fencing tokens, and three
// replicas of a small service as processes of their own. Then it lets their leader
// resign, crash and freeze, prints what happens, and checks that the resource never
// accepted a write of a leader that had been replaced. With -redis URL or REDIS_URL it
// uses a Redis of yours.
//
// With -replica it is one of those replicas. By hand, with a Redis at its usual address:
//
//	go run ./examples/leader-worker -serve-resource 127.0.0.1:9000
//	go run ./examples/leader-worker -replica -resource http://127.0.0.1:9000 -listen 127.0.0.1:8081
//	go run ./examples/leader-worker -replica -resource http://127.0.0.1:9000 -listen 127.0.0.1:8082
//
// What to copy for a service of your own is in replica.go (the process),
// replica_config.go (its flags), probes.go (its HTTP endpoints), worker.go (the
// leader's work) and store.go (writes that carry the fencing token); resource.go and
// ledger.go are what has to be done where the writes arrive. The other files, and
// examples/internal/show, are the show.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// Exit statuses.
const (
	exitOK     = show.ExitOK
	exitFailed = show.ExitFailed
	exitUsage  = 2
)

func main() {
	os.Exit(run(os.Args[1:]))
}

// run is the program; it returns the exit status.
func run(args []string) int {
	if slices.Contains(args, "-replica") || slices.Contains(args, "--replica") {
		return replicaMain(args)
	}
	return demoMain(args)
}

// demoMain is the program without -replica.
func demoMain(args []string) int {
	redis.SetLogger(redisLog{slog.New(slog.DiscardHandler)}) // what matters comes back as an error
	opts, err := parseDemo(args, os.Stderr)
	if err != nil {
		return usageStatus(err)
	}
	ctx, stop := show.UntilSignal()
	defer stop()
	if opts.resource != "" {
		err = serveResource(ctx, opts.resource)
	} else {
		err = runDemo(ctx, opts)
	}
	return show.Status(ctx, "leader-worker", err)
}

// demoOptions are the flags of the demo.
type demoOptions struct {
	redisURL string // empty: embedded
	resource string // address of a guarded resource to serve, instead of the demo
	color    bool
	verbose  bool
	out      io.Writer
}

func parseDemo(args []string, errOut io.Writer) (demoOptions, error) {
	opts := demoOptions{out: os.Stdout}
	flags := newFlagSet("leader-worker", errOut)
	flags.StringVar(&opts.redisURL, "redis", os.Getenv("REDIS_URL"), "`URL` of a Redis to use instead of an embedded one; default $REDIS_URL")
	color := flags.String("color", "auto", "colour: auto, always or never; auto means on a terminal, unless NO_COLOR is set")
	flags.BoolVar(&opts.verbose, "v", false, "also print the replicas' own logs")
	flags.Bool("replica", false, "run one replica instead of the demo; see -replica -h")
	flags.StringVar(&opts.resource, "serve-resource", "", "serve the guarded resource at this `address` instead of the demo, for replicas started by hand")
	if err := parse(flags, args); err != nil {
		return opts, err
	}
	var err error
	if opts.color, err = show.WantColor(*color, os.Stdout); err != nil {
		return opts, report(flags, err)
	}
	if opts.redisURL != "" {
		if _, err := parseRedisURL(opts.redisURL); err != nil {
			return opts, report(flags, err)
		}
	}
	return opts, nil
}

func newFlagSet(name string, errOut io.Writer) *flag.FlagSet {
	flags := flag.NewFlagSet(name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	return flags
}

// parse parses args, of which none may be left. The error has been printed.
func parse(flags *flag.FlagSet, args []string) error {
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return report(flags, fmt.Errorf("unexpected argument %q", flags.Arg(0)))
	}
	return nil
}

// report prints an error as package flag does with its own, without the whole usage.
func report(flags *flag.FlagSet, err error) error {
	fmt.Fprintf(flags.Output(), "%s: %v\n", flags.Name(), err)
	return err
}

// usageStatus is the exit status after an error of parse.
func usageStatus(err error) int {
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	return exitUsage
}
