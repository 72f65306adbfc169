// Command fenced-writes shows SQL writes that bear a fencing token, and what happens to
// one that comes late, with nothing to set up:
//
//	go run -C examples/fenced-writes .
//
// It starts an embedded Redis and three replicas of an invoice sender, which share a
// SQLite file. Their leader crashes, and the next one is frozen just before a write.
// When it wakes up, another one leads and has gone on; the late write is rejected
// inside its transaction. Beside it runs a control: the same writes to a table without
// a guard, which takes the late one and has an invoice twice. With -redis URL or
// REDIS_URL it uses a Redis of yours.
//
// What to copy is in schema.sql and fence.go (the guard), invoices.go (a guarded
// write), worker.go (the leader's work) and replica.go (the process); they are the same
// for any database with transactions. unguarded.go is what not to copy. The other files
// are the show.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"

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
	return show.Status(ctx, "fenced-writes", runDemo(ctx, opts))
}

// demoOptions are the flags of the demo.
type demoOptions struct {
	redisURL string // empty: embedded
	color    bool
	out      io.Writer
}

// parseDemo reads the command line. An error has been printed to errOut.
func parseDemo(args []string, errOut io.Writer) (demoOptions, error) {
	opts := demoOptions{out: os.Stdout}
	flags := flag.NewFlagSet("fenced-writes", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.StringVar(&opts.redisURL, "redis", os.Getenv("REDIS_URL"), "`URL` of a Redis to use instead of an embedded one; default $REDIS_URL")
	color := flags.String("color", "auto", "colour: auto, always or never; auto means on a terminal, unless NO_COLOR is set")
	if err := flags.Parse(args); err != nil {
		return opts, err
	}
	var err error
	opts.color, err = show.WantColor(*color, os.Stdout)
	if flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(errOut, "fenced-writes:", err)
	}
	return opts, err
}

// newLogger is the structured log of a replica, which the demo reads.
func newLogger() *slog.Logger { return slog.New(slog.NewJSONHandler(os.Stderr, nil)) }
