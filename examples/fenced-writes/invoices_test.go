package main

import (
	"context"
	"database/sql"
	"errors"
	"maps"
	"path/filepath"
	"sync"
	"testing"
)

func testDatabase(t *testing.T) *sql.DB {
	t.Helper()
	db, err := openDatabase(filepath.Join(t.TempDir(), "of a test %20.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	if err := createTables(t.Context(), db); err != nil {
		t.Fatal(err)
	}
	return db
}

// sender is either table.
type sender interface {
	send(context.Context, invoice) error
}

func mustSend(t *testing.T, table sender, number, token int64) {
	t.Helper()
	if err := table.send(t.Context(), invoice{number, token, "r"}); err != nil {
		t.Fatalf("invoice %d with token %d: %v", number, token, err)
	}
}

func TestAStaleWriteIsRolledBack(t *testing.T) {
	t.Parallel()
	const old, current = 1<<53 - 2, 1<<53 - 1 // the largest there are
	db := testDatabase(t)
	guarded := invoices{db}
	mustSend(t, guarded, 1, old)
	mustSend(t, guarded, 2, current)
	if err := guarded.send(t.Context(), invoice{3, old, "late"}); !errors.Is(err, errDeposed) {
		t.Errorf("got %v", err)
	}
	if highest, err := highestFence(t.Context(), db, fenceName); err != nil || highest != current {
		t.Errorf("highest token %d, %v", highest, err)
	}
	mustSend(t, guarded, 3, current)
	b, err := readBooks(t.Context(), db)
	if err != nil || !maps.Equal(b.guarded.sent, map[int64]int{old: 1, current: 2}) || len(b.guarded.late) != 0 {
		t.Errorf("%+v, %v", b, err)
	}
}

// A new leader reads before it writes. What it has read must not change under it.
func TestATermBeginsByShuttingOutEarlierOnes(t *testing.T) {
	t.Parallel()
	guarded := invoices{testDatabase(t)}
	mustSend(t, guarded, 1, 7)
	if err := guarded.begin(t.Context(), 8); err != nil {
		t.Fatal(err)
	}
	if err := guarded.send(t.Context(), invoice{2, 7, "late"}); !errors.Is(err, errDeposed) {
		t.Errorf("got %v", err)
	}
	if number, err := guarded.next(t.Context()); number != 2 || err != nil {
		t.Errorf("next invoice %d, %v", number, err)
	}
	if err := guarded.begin(t.Context(), 7); !errors.Is(err, errDeposed) {
		t.Errorf("an earlier term begins: %v", err)
	}
}

// An insert that fails must leave the fence as it was: both or neither.
func TestAFailedWriteDoesNotRaiseTheFence(t *testing.T) {
	t.Parallel()
	db := testDatabase(t)
	if _, err := db.ExecContext(t.Context(), `DROP TABLE invoices_sent`); err != nil {
		t.Fatal(err)
	}
	if err := (invoices{db}).send(t.Context(), invoice{1, 7, "r"}); err == nil || errors.Is(err, errDeposed) {
		t.Errorf("got %v", err)
	}
	if highest, err := highestFence(t.Context(), db, fenceName); err != nil || highest != 0 {
		t.Errorf("highest token %d, %v", highest, err)
	}
}

// However many write at once, no row comes after one with a higher token.
func TestConcurrentTerms(t *testing.T) {
	t.Parallel()
	const terms, writes = 6, 20
	db := testDatabase(t)
	var all sync.WaitGroup
	for token := range int64(terms) {
		all.Go(func() {
			for range writes {
				if err := (invoices{db}).send(t.Context(), invoice{1, token + 1, "r"}); err != nil && !errors.Is(err, errDeposed) {
					t.Errorf("token %d: %v", token+1, err)
				}
			}
		})
	}
	all.Wait()
	b, err := readBooks(t.Context(), db)
	if err != nil || len(b.guarded.late) != 0 || b.guarded.sent[terms] != writes {
		t.Errorf("%+v, %v", b.guarded, err)
	}
}

// The control has to do what it is here to show.
func TestControl(t *testing.T) {
	t.Parallel()
	db := testDatabase(t)
	mustSend(t, unguarded{db}, 1, 7)
	mustSend(t, unguarded{db}, 2, 8)
	mustSend(t, unguarded{db}, 2, 7)
	mustSend(t, unguarded{db}, 3, 8)
	b, err := readBooks(t.Context(), db)
	if err != nil || !maps.Equal(b.unguarded.late, map[int64]int{7: 1}) || b.unguarded.doubled != 1 {
		t.Errorf("%+v, %v", b.unguarded, err)
	}
}
