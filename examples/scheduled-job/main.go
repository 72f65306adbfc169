// Command scheduled-job is a job that runs every 200 ms, exactly once in each slot of
// its schedule, whatever happens to the replica that runs it, with nothing to set up:
//
//	go run ./examples/scheduled-job
//
// It starts an embedded Redis and three replicas as processes of their own, and kills
// the leader every second. Each slot is claimed with the fencing token of the leader's
// term, in the same atomic step that records the job's effect. Beside it run two
// controls: the same leader, keeping the last slot in its memory. At the end every slot
// is accounted for. With -for 60s it goes on for longer, with -redis URL or REDIS_URL
// it uses a Redis of yours.
//
// What to copy for a job of your own is in claims.go and run_slot.lua (the claim),
// worker.go (the leader's work), schedule.go and replica.go (the process). naive.go is
// what not to copy. The other files are the show.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/redis/go-redis/v9/logging"

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
	if slices.Contains(args, "-replica") {
		return replicaMain(args)
	}
	logging.Disable() // what matters comes back as an error
	opts, err := parseDemo(args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		return exitUsage
	}
	ctx, stop := show.UntilSignal()
	defer stop()
	return show.Status(ctx, "scheduled-job", runDemo(ctx, opts))
}

// demoOptions are the flags of the demo.
type demoOptions struct {
	redisURL string // empty: embedded
	duration time.Duration
	color    bool
	out      io.Writer
}

// parseDemo reads the command line. An error has been printed to errOut.
func parseDemo(args []string, errOut io.Writer) (demoOptions, error) {
	opts := demoOptions{out: os.Stdout}
	flags := flag.NewFlagSet("scheduled-job", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.DurationVar(&opts.duration, "for", 15*time.Second, "how long to go on killing the leader every second")
	flags.StringVar(&opts.redisURL, "redis", os.Getenv("REDIS_URL"), "`URL` of a Redis to use instead of an embedded one; default $REDIS_URL")
	color := flags.String("color", "auto", "colour: auto, always or never; auto means on a terminal, unless NO_COLOR is set")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	var err error
	opts.color, err = show.WantColor(*color, os.Stdout)
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case opts.duration < killPeriod:
		err = fmt.Errorf("-for %v: too short to kill anything, at least %v", opts.duration, killPeriod)
	}
	if err != nil {
		fmt.Fprintln(errOut, "scheduled-job:", err)
	}
	return opts, err
}

// newLogger is the structured log of a replica, which the demo reads.
func newLogger() *slog.Logger { return slog.New(slog.NewJSONHandler(os.Stderr, nil)) }
