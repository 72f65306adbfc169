package main

import (
	"context"
	"database/sql"
	"fmt"

	"github.com/redisleader/redisleader/leader"
)

// fence keeps leaders that have been replaced from writing. It takes two steps:
//
//   - claim, in each term before its work, takes a token higher than all before it.
//   - guard, first in the transaction of each write, sees that none has been claimed since.
//
// Both read under a lock. Here that is SQLite's write lock; see openDatabase. In
// PostgreSQL and MySQL, let claim SELECT ... FOR UPDATE, and guard FOR SHARE (in MariaDB,
// LOCK IN SHARE MODE): a claim then waits for the writes that are under way, and these do
// not wait for each other. Do not let an UPDATE decide by the number of rows affected,
// because MySQL does not count a row that stays as it is.
type fence struct {
	db   *sql.DB
	name string // of the row in the table fences
}

// claim takes the token of a new term. The error matches leader.ErrDeposed if a higher
// one has been claimed, or this one by somebody else: a Redis that lost its data can
// issue a token twice.
func (f fence) claim(ctx context.Context, token int64, identity string) error {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after Commit
	var highest int64
	var claimant string
	err = tx.QueryRowContext(ctx, `SELECT token, claimant FROM fences WHERE name = ?`, f.name).Scan(&highest, &claimant)
	if err != nil {
		return err
	}
	if token < highest || token == highest && identity != claimant {
		return deposed(token, highest)
	}
	if _, err = tx.ExecContext(ctx, `UPDATE fences SET token = ?, claimant = ? WHERE name = ?`, token, identity, f.name); err != nil {
		return err
	}
	return tx.Commit()
}

// guard is the first statement in the transaction of each write. Made before the
// transaction, or in another one, the same check would prove nothing.
func (f fence) guard(ctx context.Context, tx *sql.Tx, token int64) error {
	var highest int64
	err := tx.QueryRowContext(ctx, `SELECT token FROM fences WHERE name = ?`, f.name).Scan(&highest)
	if err == nil && highest != token {
		return deposed(token, highest)
	}
	return err
}

// highest is the highest token claimed, for leader.Config.FenceFloor.
func (f fence) highest(ctx context.Context) (token int64, err error) {
	err = f.db.QueryRowContext(ctx, `SELECT token FROM fences WHERE name = ?`, f.name).Scan(&token)
	return token, err
}

func deposed(token, highest int64) error {
	return fmt.Errorf("fencing token %d, highest %d: %w", token, highest, leader.ErrDeposed)
}
