package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/redisleader/redisleader/examples/internal/demo"
)

// init plays the show, or adds the control to a replica of it.
func init() {
	path := func(s demo.Setup) string { return filepath.Join(s.Dir, "invoices.db") }
	demo.Start(demo.Show{
		Name:     "fenced-writes",
		About:    "Three replicas compete for issuing invoices into a SQLite file, and for comparison into a table without a fence.",
		Lease:    time.Second,
		Scenes:   []demo.Scene{demo.Crash, demo.Freeze},
		FreezeAt: "Issuing invoice",
		Open: func(ctx context.Context, s demo.Setup) (demo.Store, error) {
			db, err := openDatabase(ctx, path(s))
			if err == nil {
				_, err = db.ExecContext(ctx, controlSchema)
			}
			return books{db}, err
		},
		Env: func(s demo.Setup) []string { return []string{"DATABASE=" + path(s)} },
	})
	if os.Getenv("DEMO") == "replica" {
		os.Exit(replica(withControl))
	}
}

// books are both tables, as the show sees them.
type books struct{ db *sql.DB }

// Writes are the tokens in the fenced table.
func (b books) Writes(ctx context.Context) ([]int64, error) {
	return b.column(ctx, "token", "invoices")
}

// Report compares both tables.
func (b books) Report(ctx context.Context, _ []demo.Term) (demo.Report, error) {
	fenced, err := b.column(ctx, "number", "invoices")
	unfenced, unfencedErr := b.column(ctx, "number", "unfenced")
	tokens, tokensErr := b.column(ctx, "token", "unfenced")
	return demo.Report{Control: tokens, Checks: judge(fenced, unfenced, tokens)}, errors.Join(err, unfencedErr, tokensErr)
}

// Close closes the database. The show removes its file.
func (b books) Close(context.Context) error { return b.db.Close() }

// column is one column of a table, in the order in which the rows were written.
func (b books) column(ctx context.Context, column, table string) (values []int64, err error) {
	query := fmt.Sprintf(`SELECT json_group_array(%s) FROM (SELECT * FROM %s ORDER BY id)`, column, table)
	var text []byte
	if err := b.db.QueryRowContext(ctx, query).Scan(&text); err != nil {
		return nil, err
	}
	err = json.Unmarshal(text, &values)
	return values, err
}

// judge says what the numbers prove, and the tokens in the table without a fence.
func judge(fenced, unfenced, tokens []int64) []demo.Check {
	late := !slices.IsSorted(tokens) // not so where no process can be frozen
	twice := func(n []int64) int { return len(n) - len(slices.Compact(slices.Sorted(slices.Values(n)))) }
	f, u := twice(fenced), twice(unfenced)
	return []demo.Check{
		{Holds: f == 0, Text: fmt.Sprintf("invoices issued twice behind the fence: %d", f)},
		{Holds: u > 0 || !late, Text: fmt.Sprintf("invoices issued twice without it: %d (some wanted)", u)},
	}
}
