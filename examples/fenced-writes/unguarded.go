package main

import (
	"context"
	"database/sql"
)

// unguarded is the control: the same writes to a table of its own, without a guard. It
// stores the token, too, but nothing compares it.
type unguarded struct{ db *sql.DB }

func (u unguarded) next(ctx context.Context) (number int64, err error) {
	err = u.db.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM unguarded_sent`).Scan(&number)
	return number, err
}

func (u unguarded) send(ctx context.Context, v invoice) error {
	_, err := u.db.ExecContext(ctx, `INSERT INTO unguarded_sent (number, token, sent_by) VALUES (?, ?, ?)`, v.number, v.token, v.sentBy)
	return err
}
