// Package demo is the show behind the examples. It starts an example as three replicas,
// each a process of its own, breaks them from outside, and judges what it sees.
//
// An example plugs in with one file, demo.go, that calls Start from its init function:
// the program then plays the show instead of running the service. Deleting that file
// leaves the service.
//
// The show knows of a replica what any operator knows: how it exits, its log, its HTTP
// endpoints, and the store it writes to. It configures a replica by its environment:
//
//	DEMO=replica        this process is a replica; with "off" it is the service by itself
//	REDIS_URL           the Redis of the election
//	ELECTION_NAME       what the replicas compete for, new in each show
//	IDENTITY            replica-1 and so on
//	LEASE_DURATION      Show.Lease
//	LOG_LEVEL           debug
//	HTTP_ADDR           127.0.0.1:0
//
// It reads a replica's standard error as records of slog.JSONHandler. It understands the
// elector's own messages "Became leader" and "Term ended", and these of the example:
//
//	"Listening"         with "address", if Show.HTTP is set
//	"Write rejected"    with "fence": the store has rejected a write of that term
//	Show.FreezeAt       with "fence": the moment to freeze a leader just before its write
package demo

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
)

// Show is what an example adds.
type Show struct {
	Name  string        // of the command
	About string        // what there is to see, printed first
	Lease time.Duration // of the election
	HTTP  bool          // the replicas serve /readyz, and /leader as leaderhttp does

	Scenes   []Scene       // played in order, while the replicas run
	FreezeAt string        // logged by a replica between its look at the term and its write
	Duration time.Duration // default of the flag -for; without it there is no such flag

	Open func(ctx context.Context, s Setup) (Store, error) // the store, before the replicas start
	Env  func(s Setup) []string                            // added to theirs; may be nil
}

// Setup is what one run of a show is made with.
type Setup struct {
	Redis    *redis.Client // the Redis of the election; the show closes it
	Election string        // the name that the replicas compete for
	Dir      string        // an empty directory; the show removes it
}

// Store is the resource that the leader writes to, as the show sees it.
type Store interface {
	// Writes returns the fencing token of each write that was accepted, in the order in
	// which the writes were applied. It is asked during the show as well. If it fails
	// right after a leader was frozen, the leader was frozen in the wrong place, and the
	// show tries again.
	Writes(ctx context.Context) ([]int64, error)

	// Report is asked once, when all replicas have ended.
	Report(ctx context.Context, terms []Term) (Report, error)

	// Close removes what the show has left behind, and closes the store.
	Close(ctx context.Context) error
}

// Report is what only the example can say about its store. The zero Report adds nothing.
type Report struct {
	// Control is Store.Writes of the control: the same writes where nothing compares the
	// token. It has to have a stale write, if a leader was frozen.
	Control []int64
	Checks  []Check // printed after the show's own, and part of the verdict
}

// Start plays the show and exits, if this process is to play it. It returns if the
// process is a replica, the service by itself, or a test (unless DEMO is "play"). The
// exit status is 0 only if no stale write was accepted, no two terms overlapped, and all
// other checks hold.
func Start(show Show) {
	switch mode := os.Getenv("DEMO"); {
	case mode == "replica":
		go exitWithShow(os.Stdin) // ends with the process: a read of stdin cannot be interrupted
	case mode == "off", mode != "play" && testing.Testing():
	default:
		os.Exit(play(show, os.Args[1:]))
	}
}

// exitWithShow ends a replica whose show is gone. The show holds the other end of its
// standard input, which the system closes if nobody else does.
func exitWithShow(stdin io.Reader) {
	_, _ = io.Copy(io.Discard, stdin)
	os.Exit(1)
}

// play is the program; it returns the exit status.
func play(show Show, args []string) int {
	logging.Disable() // go-redis' own log: what matters comes back as an error
	opts, err := parseOptions(show, args, os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the show at once
	err = show.run(ctx, opts)
	switch {
	case err == nil:
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, show.Name+": interrupted; all that it had started has been stopped")
		return 130 // what a shell reports for a program that Ctrl-C has ended
	default:
		fmt.Fprintln(os.Stderr, show.Name+":", err)
		return 1
	}
}

// options are the flags of a show.
type options struct {
	redisURL string // empty: an embedded one
	duration time.Duration
}

// parseOptions reads the command line. An error has been printed to errOut.
func parseOptions(show Show, args []string, errOut io.Writer) (options, error) {
	opts := options{redisURL: os.Getenv("REDIS_URL")}
	flags := flag.NewFlagSet(show.Name, flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Func("redis", "`URL` of a Redis to use instead of an embedded one; default $REDIS_URL",
		func(url string) error { opts.redisURL = url; return nil })
	if show.Duration > 0 {
		flags.DurationVar(&opts.duration, "for", show.Duration, "how long to go on")
	}
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
		fmt.Fprintf(errOut, "%s: %v\n", show.Name, err)
	}
	return opts, err
}
