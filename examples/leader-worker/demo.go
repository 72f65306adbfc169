package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// whoResource is who accepts and rejects writes, on the timeline.
const whoResource = "resource"

const (
	demoLease = 1500 * time.Millisecond
	demoLimit = 90 * time.Second // for the whole show on a machine that is busy; it takes a fifth of that
)

// demo is the show: what it consists of, and how it is started and stopped. What
// happens in it is in scenes.go.
type demo struct {
	demoOptions
	name     string // what is competed for; new each time, so that two demos on one Redis do not meet
	embedded *show.Redis
	resource *resource
	timeline *show.Timeline
	history  *history
	children map[string]*child // by identity; of the goroutine that plays the scenes alone
	fail     context.CancelCauseFunc
}

// runDemo plays the demo and returns nil if it showed what it claims.
func runDemo(parent context.Context, opts demoOptions) error {
	ctx, cancel := context.WithTimeoutCause(parent, demoLimit, fmt.Errorf("not finished within %v", demoLimit))
	defer cancel()
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)

	d := &demo{
		demoOptions: opts,
		name:        "leader-worker-" + strings.ToLower(rand.Text()[:8]),
		history:     &history{},
		children:    make(map[string]*child),
		fail:        fail,
	}
	played := d.play(ctx)
	if parent.Err() != nil {
		return parent.Err() // interrupted: what was seen is no ground for a verdict
	}
	return errors.Join(played, d.conclude())
}

// play starts everything, plays the scenes and stops everything again, on every way out.
func (d *demo) play(ctx context.Context) error {
	d.introduce()
	d.timeline = show.NewTimeline(d.out, show.Palette{Enabled: d.color})
	defer d.timeline.Close()
	if err := d.startRedis(ctx); err != nil {
		return err
	}
	defer d.stopRedis()
	if err := d.startResource(); err != nil {
		return err
	}
	defer d.resource.close()
	defer d.stopReplicas()
	return d.playScenes(ctx)
}

func (d *demo) introduce() {
	fmt.Fprintf(d.out, "Three replicas of a service compete for the leadership, and the leader counts in a guarded resource. Their lease\n"+
		"is %v: for so long a leader that crashed or froze keeps the others waiting.\n\n", demoLease)
}

func (d *demo) startRedis(ctx context.Context) error {
	if d.redisURL != "" {
		return d.checkRedis(ctx)
	}
	server, err := show.StartEmbedded()
	if err != nil {
		return err
	}
	d.embedded, d.redisURL = server, server.URL
	d.timeline.Now(show.Demo, "Redis: an embedded one, at %s", redact(d.redisURL))
	return nil
}

// checkRedis looks whether somebody answers at the URL given, so that a wrong one is
// reported as what it is.
func (d *demo) checkRedis(ctx context.Context) error {
	return d.withRedis(ctx, func(ctx context.Context, client *redis.Client) error {
		if err := client.Ping(ctx).Err(); err != nil {
			return fmt.Errorf("-redis (or REDIS_URL) %q: no answer: %w", redact(d.redisURL), err)
		}
		d.timeline.Now(show.Demo, "Redis: %s", redact(d.redisURL))
		return nil
	})
}

// stopRedis leaves nothing behind in a Redis that is not ours: the counter of the
// fencing tokens would stay for good.
func (d *demo) stopRedis() {
	if d.embedded != nil {
		d.embedded.Close()
		return
	}
	_ = d.withRedis(context.Background(), func(ctx context.Context, client *redis.Client) error {
		lock := "redisleader:{" + d.name + "}"
		return client.Del(ctx, lock, lock+":fence").Err()
	})
}

func (d *demo) withRedis(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	opts, err := parseRedisURL(d.redisURL)
	if err != nil {
		return err
	}
	client := redis.NewClient(opts)
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return do(ctx, client)
}

func (d *demo) startResource() (err error) {
	d.resource, err = startResource(&ledger{onReject: d.rejected}, "127.0.0.1:0")
	if err == nil {
		d.timeline.Now(show.Demo, "guarded resource: %s, rejects a fence token lower than the highest it has accepted", d.resource.url)
	}
	return err
}

// rejected is told of each write that the resource rejects.
func (d *demo) rejected(token, highest int64) {
	d.timeline.Add(time.Now(), whoResource, show.Red, "REJECTS a late write: its fence token %d is lower than %d", token, highest)
}

// startReplica starts a replica, for the first time or again.
func (d *demo) startReplica(identity string) error {
	c := &child{Child: &show.Child{Identity: identity}}
	c.OnLine = func(line []byte) { d.heard(c, line) }
	c.OnExit = func() { d.exited(c) }
	args := []string{
		"-replica", "-stop-at-eof", "-listen", "127.0.0.1:0", "-resource", d.resource.url,
		"-name", d.name, "-identity", identity, "-lease", demoLease.String(),
	}
	if err := c.Start(args, []string{"REDIS_URL=" + d.redisURL}); err != nil {
		return fmt.Errorf("%s: %w", identity, err)
	}
	d.children[identity] = c
	return nil
}

// stopReplicas stops all that run, at the same time.
func (d *demo) stopReplicas() {
	var all sync.WaitGroup
	for _, c := range d.children {
		all.Go(c.Stop)
	}
	all.Wait()
}

// heard is told of each line of a replica's log.
func (d *demo) heard(c *child, line []byte) {
	e, ok := parseEvent(line)
	if !ok {
		e.Time = time.Now()
	}
	if d.verbose || !ok {
		d.timeline.Add(e.Time, c.Identity, show.Dim, "%s", strings.TrimSpace(string(line)))
	}
	switch {
	case !ok:
	case e.Message == msgReplicaStarted:
		c.address.Store(&e.Address)
		d.timeline.Add(e.Time, c.Identity, show.Plain, "started, pid %d, http://%s/leader", c.Pid(), e.Address)
	case e.Message == msgWorkStarted:
		d.history.begin(c.Identity, e.Fence, e.Time)
		d.timeline.Add(e.Time, c.Identity, show.Green, "LEADS with fence token %d%s", e.Fence, d.since(e))
	case e.Message == msgWorkStopped:
		d.history.stop(e.Fence, e.Time, e.Cause)
		d.timeline.Add(e.Time, c.Identity, show.Plain, "has stopped its work: %s", e.Cause)
	case e.Level == "ERROR":
		d.timeline.Add(e.Time, c.Identity, show.Red, "%s: %s", e.Message, cmp.Or(e.Error, e.Err))
	}
}

// since says how long nobody led before a term.
func (d *demo) since(e event) string {
	last, ok := d.history.before(e.Fence)
	if !ok || last.open() {
		return ""
	}
	return ", " + show.Seconds(e.Time.Sub(last.ended)) + " after the last leader"
}

// exited is told when a replica has ended.
func (d *demo) exited(c *child) {
	now := time.Now()
	d.history.exit(c.Identity, now)
	if c.Expected() {
		d.timeline.Now(c.Identity, "is gone (%s)", c.Exit())
		return
	}
	d.timeline.Add(now, c.Identity, show.Red, "ended unexpectedly (%s)", c.Exit())
	d.fail(fmt.Errorf("%s ended unexpectedly: %s", c, c.Exit()))
}

// conclude prints the table and the verdict, if there was anything to see.
func (d *demo) conclude() error {
	terms := d.history.all()
	if len(terms) == 0 {
		return nil
	}
	account := d.resource.account()
	fmt.Fprintln(d.out)
	printTable(d.out, show.Palette{Enabled: d.color}, terms, account)
	fmt.Fprintln(d.out)
	checks := judge(terms, account, wanted())
	show.PrintVerdict(d.out, show.Palette{Enabled: d.color}, checks, "one leader at a time, and nothing that a deposed one still did was accepted.")
	return show.Failure(checks)
}
