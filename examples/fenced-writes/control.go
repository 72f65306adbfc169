package main

import (
	"cmp"
	"context"

	"github.com/redisleader/redisleader/leader"
)

// controlSchema is the same table without a fence. It has the token, too, but nothing
// compares it.
const controlSchema = `CREATE TABLE unfenced (id INTEGER PRIMARY KEY AUTOINCREMENT, number INTEGER, token INTEGER)`

// withControl is worker.issue with the same work done wrong around it.
func withControl(w worker, ctx context.Context, term leader.Term) error {
	var number int64
	err := w.db.QueryRowContext(ctx, `SELECT coalesce(max(number), 0) + 1 FROM unfenced`).Scan(&number)
	if err != nil {
		return err
	}
	issued := w.issue(ctx, term) // takes its time, in which the process can be frozen
	_, err = w.db.ExecContext(context.WithoutCancel(ctx), `INSERT INTO unfenced (number, token) VALUES (?, ?)`, number, term.FenceToken())
	return cmp.Or(issued, err)
}
