package main

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/examples/internal/show"
)

const (
	replicas  = 3
	demoLimit = 90 * time.Second // for the whole show on a machine that is busy; it takes a tenth of that
)

// demo is the show: what it consists of, and how it is started and stopped. What
// happens in it is in scenes.go.
type demo struct {
	demoOptions
	name     string // what is competed for; new each time, so that two demos on one Redis do not meet
	redis    *show.Redis
	database string // file
	db       *sql.DB
	timeline *show.Timeline
	cast     *show.Cast
	books    books

	mu        sync.Mutex
	preparing map[int64]bool // tokens whose holder is about to write
	rejected  map[int64]int  // writes, by token
}

// runDemo plays the demo and returns nil if it showed what it claims.
func runDemo(parent context.Context, opts demoOptions) error {
	ctx, cancel := context.WithTimeoutCause(parent, demoLimit, fmt.Errorf("not finished within %v", demoLimit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	d := &demo{
		demoOptions: opts,
		name:        "fenced-writes-" + strings.ToLower(rand.Text()[:8]),
		preparing:   make(map[int64]bool),
		rejected:    make(map[int64]int),
	}
	if err := d.play(ctx, fail); err != nil {
		return err
	}
	return d.conclude()
}

// play starts everything, plays the scenes and stops everything again, on every way out.
func (d *demo) play(ctx context.Context, fail func(error)) (err error) {
	if d.redis, err = show.OpenRedis(ctx, d.redisURL); err != nil {
		return err
	}
	defer d.redis.Close()
	defer d.clean()
	closeDatabase, err := d.createDatabase(ctx)
	if err != nil {
		return err
	}
	defer closeDatabase()
	d.introduce()
	d.timeline = show.NewTimeline(d.out, show.Palette{Enabled: d.color})
	defer d.timeline.Close()
	d.cast = &show.Cast{Timeline: d.timeline, Args: d.args, Env: []string{"REDIS_URL=" + d.redis.URL}, OnEvent: d.heard, Fail: fail}
	defer d.cast.Stop()
	if err := d.playScenes(ctx); err != nil {
		return err
	}
	d.cast.Stop()
	d.books, err = readBooks(ctx, d.db)
	return err
}

func (d *demo) introduce() {
	fmt.Fprintf(d.out, "Three replicas compete for sending invoices, which they record in a SQLite file: each invoice once in a table that is\n"+
		"guarded by the fencing token, and once in a table that is not. Their lease is %v. Redis: %s.\n", lease, d.redis)
}

// createDatabase creates it in a directory of its own, which goes with the demo.
func (d *demo) createDatabase(ctx context.Context) (closeAll func(), err error) {
	directory, err := os.MkdirTemp("", "fenced-writes-")
	if err != nil {
		return nil, err
	}
	d.database = filepath.Join(directory, "invoices.db")
	if d.db, err = openDatabase(d.database); err == nil {
		err = createTables(ctx, d.db)
	}
	closeAll = func() {
		if d.db != nil {
			_ = d.db.Close()
		}
		_ = os.RemoveAll(directory)
	}
	if err != nil {
		closeAll()
		return nil, fmt.Errorf("database: %w", err)
	}
	return closeAll, nil
}

// args is the command line of a replica.
func (d *demo) args(identity string) []string {
	return []string{"-replica", "-database", d.database, "-name", d.name, "-identity", identity}
}

// heard is told of what the replicas log.
func (d *demo) heard(identity string, e show.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch e.Message {
	case msgPrepares:
		d.preparing[e.Fence] = true
	case msgSent:
		d.preparing[e.Fence] = false
	case msgRejected:
		d.preparing[e.Fence] = false
		d.rejected[e.Fence]++
		d.timeline.Add(e.Time, identity, show.Red, "ROLLS BACK its late write: %s", e.Error)
	}
}

func (d *demo) aboutToWrite(fence int64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.preparing[fence]
}

func (d *demo) rejections(fence int64) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rejected[fence]
}

// clean leaves nothing behind in a Redis that is not ours: the counter of the fencing
// tokens would stay for good.
func (d *demo) clean() {
	_ = d.redis.With(context.Background(), func(ctx context.Context, client *redis.Client) error {
		lock := "redisleader:{" + d.name + "}"
		return client.Del(ctx, lock, lock+":fence").Err()
	})
}

// conclude prints the table and the verdict.
func (d *demo) conclude() error {
	p := show.Palette{Enabled: d.color}
	fmt.Fprintln(d.out)
	printTable(d.out, p, d.cast.Reigns(), d.books, d.rejected)
	fmt.Fprintln(d.out)
	checks := judge(d.books, d.rejected, wanted())
	show.PrintVerdict(d.out, p, checks, proves())
	if err := show.Failure(checks); err != nil {
		return errors.New("not shown: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
