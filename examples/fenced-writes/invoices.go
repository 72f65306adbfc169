package main

import (
	"context"
	"database/sql"
)

// fenceName is the row of the guard, by the name of what the leader is elected for.
const fenceName = "invoice-sender"

// invoice is one that was sent.
type invoice struct {
	number int64
	token  int64 // of the term in which it was sent
	sentBy string
}

// invoices is the table of those that were sent, guarded by the fencing token.
type invoices struct{ db *sql.DB }

// begin shuts out all earlier terms, from now on rather than from the first write on.
// What is read afterwards therefore stays true until this term writes, or is deposed
// itself.
func (i invoices) begin(ctx context.Context, token int64) error {
	return raiseFence(ctx, i.db, fenceName, token)
}

// next is the number of the next invoice.
func (i invoices) next(ctx context.Context) (number int64, err error) {
	err = i.db.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM invoices_sent`).Scan(&number)
	return number, err
}

// send records an invoice, unless a later term has begun: then the error matches
// errDeposed, and nothing has changed.
func (i invoices) send(ctx context.Context, v invoice) error {
	tx, err := i.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // without effect once it is committed
	if err := raiseFence(ctx, tx, fenceName, v.token); err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO invoices_sent (number, token, sent_by) VALUES (?, ?, ?)`, v.number, v.token, v.sentBy)
	if err != nil {
		return err
	}
	return tx.Commit()
}
