package main

import (
	"context"
	"database/sql"
	_ "embed"

	_ "modernc.org/sqlite" // SQLite in pure Go
)

//go:embed schema.sql
var schema string

// openDatabase opens the file that all processes share.
//
// Transactions take SQLite's one write lock when they begin: one that began as a reader
// and then wants to write can fail for having read too early. Who finds the lock taken
// waits for it.
func openDatabase(path string) (*sql.DB, error) {
	return sql.Open("sqlite", path+"?_txlock=immediate&_pragma=busy_timeout(2000)&_pragma=journal_mode(WAL)")
}

// createTables is done once, before anybody writes.
func createTables(ctx context.Context, db *sql.DB) error {
	_, err := db.ExecContext(ctx, schema)
	return err
}
