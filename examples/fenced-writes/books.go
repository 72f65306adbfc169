package main

import (
	"context"
	"database/sql"
	"fmt"
)

// table is what one table says.
type table struct {
	sent    map[int64]int // rows, by token
	late    map[int64]int // those of them that came after one with a higher token
	doubled int           // numbers of invoices that were sent more than once
}

// books are both.
type books struct{ guarded, unguarded table }

func readBooks(ctx context.Context, db *sql.DB) (b books, err error) {
	if b.guarded, err = readTable(ctx, db, "invoices_sent"); err != nil {
		return b, err
	}
	b.unguarded, err = readTable(ctx, db, "unguarded_sent")
	return b, err
}

func readTable(ctx context.Context, db *sql.DB, name string) (t table, err error) {
	if t.sent, err = byToken(ctx, db, fmt.Sprintf(`SELECT token, count(*) FROM %s GROUP BY token`, name)); err != nil {
		return t, err
	}
	t.late, err = byToken(ctx, db, fmt.Sprintf(`
		SELECT token, count(*) FROM (SELECT token, max(token) OVER (ORDER BY id) AS highest FROM %s)
		WHERE token < highest GROUP BY token`, name))
	if err != nil {
		return t, err
	}
	err = db.QueryRowContext(ctx, fmt.Sprintf(`SELECT count(*) - count(DISTINCT number) FROM %s`, name)).Scan(&t.doubled)
	return t, err
}

func byToken(ctx context.Context, db *sql.DB, query string) (map[int64]int, error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	counts := make(map[int64]int)
	for rows.Next() {
		var token int64
		var n int
		if err := rows.Scan(&token, &n); err != nil {
			return nil, err
		}
		counts[token] = n
	}
	return counts, rows.Err()
}

// sent is how many invoices bear a token.
func sent(ctx context.Context, db *sql.DB, token int64) (n int, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM invoices_sent WHERE token = ?`, token).Scan(&n)
	return n, err
}

// total adds up counts.
func total(counts map[int64]int) (sum int) {
	for _, n := range counts {
		sum += n
	}
	return sum
}
