// Command fenced-writes issues invoices into an SQL database. No leader that has been
// replaced writes anything there, however late it wakes up. Start as many replicas as
// you like; one of them leads and issues.
//
// To see that, with a leader that is frozen and nothing to set up:
//
//	go run -C examples/fenced-writes .
//
// For a service of your own, copy main.go, fence.go and schema.sql; control.go and
// demo.go are the show. Without demo.go, or with DEMO=off, the command is one replica.
// The environment configures it:
//
//	REDIS_URL       default redis://127.0.0.1:6379/0
//	DATABASE        SQLite file that all replicas share; default invoices.db
//	ELECTION_NAME   what the replicas compete for; default fenced-writes
//	IDENTITY        who this replica is, for people; default host_pid_random
//	LEASE_DURATION  how long the others wait after a leader has died; default 15s
package main

import (
	"cmp"
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"
	_ "modernc.org/sqlite" // in pure Go

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// From one invoice to the next, and how long it takes to render one.
const interval, rendering = 200 * time.Millisecond, 150 * time.Millisecond

//go:embed schema.sql
var schema string

func main() { os.Exit(replica(worker.issue)) }

// replica is the whole process. It returns the exit status.
func replica(issue func(worker, context.Context, leader.Term) error) int {
	// The elector logs here, too. go-redis's own log is off: what matters is in its errors.
	slog.SetDefault(slog.New(slog.NewJSONHandler(os.Stderr, nil)))
	logging.Disable()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	if err := run(ctx, issue); err != nil {
		slog.Error("Replica failed", "error", err)
		return 1
	}
	return 0
}

// run competes until ctx ends, and calls issue again and again while it leads.
func run(ctx context.Context, issue func(worker, context.Context, leader.Term) error) error {
	options, err := redis.ParseURL(cmp.Or(os.Getenv("REDIS_URL"), "redis://127.0.0.1:6379/0"))
	if err != nil { // which may show the password
		return errors.New("REDIS_URL is not like redis://user:password@host:6379/0")
	}
	options.ContextTimeoutEnabled = true // or a context does not interrupt a call that hangs
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	lease, err := time.ParseDuration(cmp.Or(os.Getenv("LEASE_DURATION"), "15s"))
	if err != nil {
		return fmt.Errorf("LEASE_DURATION: %w", err)
	}
	db, err := openDatabase(ctx, cmp.Or(os.Getenv("DATABASE"), "invoices.db"))
	if err != nil {
		return fmt.Errorf("DATABASE: %w", err)
	}
	defer func() { _ = db.Close() }()

	w := worker{db, fence{db, "invoices"}, issue}
	return leader.Run(ctx, redislock.New(client), leader.Config{
		Name:          cmp.Or(os.Getenv("ELECTION_NAME"), "fenced-writes"),
		Identity:      os.Getenv("IDENTITY"),
		LeaseDuration: lease,
		FenceFloor:    w.fence.highest, // the database still knows it if Redis has lost its counter
		Callbacks:     leader.Callbacks{OnStartedLeading: w.lead},
	})
}

// openDatabase opens the database, and creates the tables if they are not there. Each
// transaction waits for SQLite's write lock and takes it when it begins (BEGIN
// IMMEDIATE), so that what it reads stays true until it commits.
func openDatabase(ctx context.Context, path string) (*sql.DB, error) {
	db, err := sql.Open("sqlite", path+"?_txlock=immediate&_pragma=busy_timeout(2000)")
	if err != nil {
		return nil, err
	}
	_, err = db.ExecContext(ctx, schema)
	return db, err
}

// worker is what only the leader does.
type worker struct {
	db    *sql.DB
	fence fence
	round func(worker, context.Context, leader.Term) error
}

// lead is the work of one term. An error ends the term.
func (w worker) lead(ctx context.Context, term leader.Term) {
	err := w.fence.claim(ctx, term.FenceToken(), term.Identity())
	if err == nil {
		err = leader.Every(ctx, interval, func(ctx context.Context) error { return w.round(w, ctx, term) })
	}
	if errors.Is(err, leader.ErrDeposed) {
		slog.Warn("Write rejected", "fence", term.FenceToken(), "error", err)
	}
	term.Fail(err)
}

// issue issues the next invoice. Every has just seen that the term lasts, and still the
// write can come too late: the process can be frozen in between, for longer than its
// lease. No lock prevents that. The guard in the transaction makes it harmless.
func (w worker) issue(ctx context.Context, term leader.Term) error {
	var number int64
	err := w.db.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM invoices`).Scan(&number)
	if err != nil {
		return err
	}
	slog.Info("Issuing invoice", "fence", term.FenceToken(), "number", number)
	time.Sleep(rendering) // in place of work that takes time
	// A write that has begun is finished, though not at any length: if the end of the
	// term interrupted it, nobody would know whether it was applied.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	return w.insert(ctx, number, term.FenceToken())
}

// insert records an invoice. If a later term has claimed, it changes nothing, and the
// error matches leader.ErrDeposed.
func (w worker) insert(ctx context.Context, number, token int64) error {
	tx, err := w.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	if err := w.fence.guard(ctx, tx, token); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, `INSERT INTO invoices (number, token) VALUES (?, ?)`, number, token); err != nil {
		return err
	}
	return tx.Commit()
}
