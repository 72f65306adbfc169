package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// errDeposed says that the database has accepted a write of a later term.
var errDeposed = errors.New("fence token is too low")

// executor is a transaction, or the database for one statement by itself.
type executor interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// raiseFence is the whole guard. In a transaction with the write that it guards it is
// what makes the check and the write one step: the row stays locked from here to the
// end of the transaction, so that no other leader can come between. A check that has
// been made before, or elsewhere, proves nothing.
func raiseFence(ctx context.Context, in executor, name string, token int64) error {
	result, err := in.ExecContext(ctx, `UPDATE fences SET token = ? WHERE name = ? AND token <= ?`, token, name, token)
	if err != nil {
		return err
	}
	switch rows, err := result.RowsAffected(); {
	case err != nil:
		return err
	case rows == 0:
		return fmt.Errorf("%w: %d", errDeposed, token)
	default:
		return nil
	}
}

// highestFence is the highest token that was accepted, 0 if none: what
// leader.Config.FenceFloor asks for.
func highestFence(ctx context.Context, db *sql.DB, name string) (token int64, err error) {
	err = db.QueryRowContext(ctx, `SELECT token FROM fences WHERE name = ?`, name).Scan(&token)
	return token, err
}
