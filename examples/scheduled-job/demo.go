package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/examples/internal/show"
)

const (
	replicas   = 3
	killPeriod = time.Second
	patience   = time.Minute            // beyond -for, on a machine that is busy
	prelude    = 500 * time.Millisecond // until the first slot: time to start the processes
)

// demo is the show: what it consists of, and what happens in it.
type demo struct {
	demoOptions
	name     string // what is competed for; new each time, so that two demos on one Redis do not meet
	redis    *show.Redis
	timeline *show.Timeline
	cast     *show.Cast
	schedule schedule
	last     int64 // slot that is accounted for
	books    books
}

// runDemo plays the demo and returns nil if it showed what it claims.
func runDemo(parent context.Context, opts demoOptions) error {
	limit := opts.duration + patience
	ctx, cancel := context.WithTimeoutCause(parent, limit, fmt.Errorf("not finished within %v", limit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	d := &demo{demoOptions: opts, name: strings.ToLower(rand.Text()[:8])}
	if err := d.play(ctx, fail); err != nil {
		return err
	}
	return d.conclude()
}

// play starts everything, plays and stops everything again, on every way out.
func (d *demo) play(ctx context.Context, fail func(error)) (err error) {
	if d.redis, err = show.OpenRedis(ctx, d.redisURL); err != nil {
		return err
	}
	defer d.redis.Close()
	defer d.clean()
	d.introduce()
	d.timeline = show.NewTimeline(d.out, show.Palette{Enabled: d.color})
	defer d.timeline.Close()
	d.schedule = schedule{time.Now().Add(prelude).Truncate(time.Millisecond), period}
	d.cast = &show.Cast{Timeline: d.timeline, Args: d.args, Env: []string{"REDIS_URL=" + d.redis.URL}, OnEvent: d.heard, Fail: fail}
	defer d.cast.Stop()
	if err := d.cast.Start(replicas); err != nil {
		return err
	}
	if err := d.killEverySecond(ctx); err != nil {
		return err
	}
	return d.finish(ctx)
}

func (d *demo) introduce() {
	fmt.Fprintf(d.out, "A job is due every %v. Three replicas compete for running it; the leader is killed every second, and its lease\n"+
		"of %v has to run out before another one leads. Redis: %s.\n\n", period, lease, d.redis)
}

// args is the command line of a replica.
func (d *demo) args(identity string) []string {
	start := strconv.FormatInt(d.schedule.start.UnixMilli(), 10)
	return []string{"-replica", "-name", d.name, "-identity", identity, "-start", start}
}

// heard is told of what the replicas log.
func (d *demo) heard(identity string, e show.Event) {
	if e.Message == msgCatchesUp {
		d.timeline.Add(e.Time, identity, show.Plain, "catches up on %s", e.Detail)
	}
}

// killEverySecond kills the leader, whenever somebody leads and the last kill was a
// second ago, and starts its replica again.
func (d *demo) killEverySecond(ctx context.Context) error {
	start := time.Now()
	leader := show.Reign{Ended: start}
	for time.Since(start) < d.duration {
		if err := show.Pause(ctx, killPeriod-time.Since(leader.Ended)); err != nil {
			return err
		}
		var err error
		if leader, err = d.cast.LeaderAfter(ctx, leader.Fence); err != nil {
			return err
		}
		leader.Ended = time.Now()
		if err := errors.Join(d.cast.Kill(leader), d.tellKill(ctx, leader)); err != nil {
			return err
		}
	}
	return nil
}

// tellKill says what the leader had done when it was killed.
func (d *demo) tellKill(ctx context.Context, leader show.Reign) error {
	ran := "it had run nothing"
	err := d.redis.With(ctx, func(ctx context.Context, client *redis.Client) error {
		entries, err := readOutbox(ctx, client, keys(d.name).outbox())
		if mine := of(leader.Fence, entries); len(mine) > 0 {
			ran = fmt.Sprintf("it had run slots %d to %d", mine[0].slot, mine[len(mine)-1].slot)
		}
		return err
	})
	d.timeline.Add(leader.Ended, show.Demo, show.Plain, "kills %s (SIGKILL); %s", leader.Leader, ran)
	return err
}

// finish lets the last leader run all that is due by now, and reads the books once
// nobody can write to them.
func (d *demo) finish(ctx context.Context) error {
	d.last = d.schedule.latest(time.Now())
	// The one after it, too: then the controls have had their turn with the last one.
	err := show.Await(ctx, func() bool { return d.hasRun(ctx, d.last+1) })
	if err != nil {
		return fmt.Errorf("slot %d was not run: %w", d.last+1, err)
	}
	d.timeline.Now(show.Demo, "stops all (%s): the slots that were due at the last kill, up to %d, have had their turn", show.Politely, d.last)
	d.cast.Stop()
	return d.redis.With(ctx, func(ctx context.Context, client *redis.Client) (err error) {
		d.books, err = readBooks(ctx, client, keys(d.name))
		return err
	})
}

func (d *demo) hasRun(ctx context.Context, slot int64) bool {
	done := false
	_ = d.redis.With(ctx, func(ctx context.Context, client *redis.Client) error {
		next, err := claims{client, keys(d.name)}.next(ctx)
		done = err == nil && next > slot
		return err
	})
	return done
}

// clean leaves nothing behind in a Redis that is not ours.
func (d *demo) clean() {
	_ = d.redis.With(context.Background(), func(ctx context.Context, client *redis.Client) error {
		return client.Del(ctx, keys(d.name).all()...).Err()
	})
}

// conclude prints the table and the verdict.
func (d *demo) conclude() error {
	p := show.Palette{Enabled: d.color}
	fmt.Fprintln(d.out)
	printTable(d.out, p, d.books, d.last)
	fmt.Fprintln(d.out)
	checks := judge(d.books, d.last, criteria{changes: int(d.duration / (3 * killPeriod))}, d.cast.Reigns())
	show.PrintVerdict(d.out, p, checks, "every slot exactly once with a claim, and not without.")
	if err := show.Failure(checks); err != nil {
		return errors.New("not shown: " + strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return nil
}
