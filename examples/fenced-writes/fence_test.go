package main

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/redisleader/redisleader/leader"
)

func testWorker(t *testing.T) worker {
	t.Helper()
	db, err := openDatabase(t.Context(), filepath.Join(t.TempDir(), "of a test %20.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if _, err := db.ExecContext(t.Context(), controlSchema); err != nil {
		t.Fatal(err)
	}
	return worker{db, fence{db, "invoices"}, worker.issue}
}

func (w worker) mustClaim(t *testing.T, token int64, identity string) {
	t.Helper()
	if err := w.fence.claim(t.Context(), token, identity); err != nil {
		t.Fatalf("%s claims %d: %v", identity, token, err)
	}
}

func (w worker) mustInsert(t *testing.T, number, token int64) {
	t.Helper()
	if err := w.insert(t.Context(), number, token); err != nil {
		t.Fatalf("invoice %d with token %d: %v", number, token, err)
	}
}

// column is one column of a table.
func (w worker) column(t *testing.T, column, table string) []int64 {
	t.Helper()
	values, err := books{w.db}.column(t.Context(), column, table)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

func TestAStaleWriteIsRolledBack(t *testing.T) {
	t.Parallel()
	const old, current = 1<<53 - 2, 1<<53 - 1 // the largest there are
	w := testWorker(t)
	w.mustClaim(t, old, "a")
	w.mustInsert(t, 1, old)
	w.mustClaim(t, current, "b")
	if err := w.insert(t.Context(), 2, old); !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("got %v", err) // before the first write of the current term
	}
	w.mustInsert(t, 2, current)
	if err := w.insert(t.Context(), 3, old); !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("got %v", err)
	}
	w.mustInsert(t, 3, current)
	if got := w.column(t, "token", "invoices"); !slices.Equal(got, []int64{old, current, current}) {
		t.Errorf("tokens %v", got)
	}
}

func TestClaim(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	for _, c := range []struct {
		token    int64
		identity string
		taken    bool
		highest  int64
	}{
		{7, "a", true, 7},
		{7, "a", true, 7},  // again, as after a reply that was lost
		{7, "b", false, 7}, // a token that was issued twice
		{6, "a", false, 7},
		{9, "b", true, 9},
		{8, "a", false, 9},
		{9, "a", false, 9},
	} {
		err := w.fence.claim(t.Context(), c.token, c.identity)
		highest, highestErr := w.fence.highest(t.Context())
		if (err == nil) != c.taken || err != nil && !errors.Is(err, leader.ErrDeposed) || highest != c.highest || highestErr != nil {
			t.Errorf("%s claims %d: %v; then the highest is %d, %v", c.identity, c.token, err, highest, highestErr)
		}
	}
}

// A token that was never claimed opens nothing, however high it is.
func TestAWriteNeedsAClaim(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	w.mustClaim(t, 7, "a")
	if err := w.insert(t.Context(), 1, 8); !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("got %v", err)
	}
}

// Without the row of the fence nothing is claimed or written: an update that affects no
// row must not pass for one.
func TestAMissingFenceFails(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	w.fence.name = "another"
	_, floorErr := w.fence.highest(t.Context())
	for what, err := range map[string]error{
		"claim": w.fence.claim(t.Context(), 7, "a"),
		"write": w.insert(t.Context(), 1, 7),
		"floor": floorErr,
	} {
		if !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A write that fails ends its transaction: the next one does not wait for it.
func TestAFailedWriteLeavesNothing(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	w.mustClaim(t, 7, "a")
	if _, err := w.db.ExecContext(t.Context(), `ALTER TABLE invoices RENAME TO aside`); err != nil {
		t.Fatal(err)
	}
	if err := w.insert(t.Context(), 1, 7); err == nil || errors.Is(err, leader.ErrDeposed) {
		t.Errorf("got %v", err)
	}
	if _, err := w.db.ExecContext(t.Context(), `ALTER TABLE aside RENAME TO invoices`); err != nil {
		t.Fatal(err)
	}
	w.mustInsert(t, 1, 7)
}

// However many write at once, no row comes after one with a higher token.
func TestConcurrentTerms(t *testing.T) {
	t.Parallel()
	const terms, writes = 6, 20
	w := testWorker(t)
	refused := func(err error) bool {
		if err != nil && !errors.Is(err, leader.ErrDeposed) {
			t.Error(err)
		}
		return err != nil
	}
	var all sync.WaitGroup
	for token := range int64(terms) {
		all.Go(func() {
			if refused(w.fence.claim(t.Context(), token+1, "r")) {
				return
			}
			for range writes {
				if refused(w.insert(context.WithoutCancel(t.Context()), 1, token+1)) {
					return
				}
			}
		})
	}
	all.Wait()
	tokens := w.column(t, "token", "invoices")
	if n := len(tokens); !slices.IsSorted(tokens) || n < writes || tokens[n-writes] != terms {
		t.Errorf("tokens %v", tokens)
	}
}
