package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// run plays a show once. It starts everything and stops everything again, on every way
// out, and returns nil if the show has shown what it claims.
func (s Show) run(ctx context.Context, opts options) error {
	dir, err := os.MkdirTemp("", s.Name+"-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	server, err := openServer(ctx, opts.redisURL)
	if err != nil {
		return err
	}
	// A name of its own, so that two shows on one Redis do not meet.
	setup := Setup{Redis: server.client, Election: s.Name + "-" + strings.ToLower(rand.Text()[:8]), Dir: dir}
	defer server.close(setup.Election)
	store, err := s.Open(ctx, setup)
	if err != nil {
		return err
	}
	defer func() { _ = store.Close(context.WithoutCancel(ctx)) }()
	fmt.Printf("%s\nThe lease is %v: for so long a leader that has crashed keeps the others waiting. Redis: %s.\n",
		s.About, s.Lease, server.name)
	c := &Cluster{
		show: s, opts: opts, env: s.env(server, setup), store: store,
		timeline: &timeline{out: os.Stdout, painter: newPainter(os.Stdout), start: time.Now()},
		replicas: make(map[string]*replica), rejected: make(map[int64]int), rounds: make(map[int64]int),
	}
	return c.play(ctx)
}

// env is the environment of the replicas.
func (s Show) env(server *server, setup Setup) []string {
	env := []string{"DEMO=replica", "REDIS_URL=" + server.url, "ELECTION_NAME=" + setup.Election,
		"LEASE_DURATION=" + s.Lease.String(), "HTTP_ADDR=127.0.0.1:0", "LOG_LEVEL=debug"}
	if s.Env != nil {
		env = append(env, s.Env(setup)...)
	}
	return env
}

// play plays the scenes, and judges what came of them unless ctx has ended: what was seen
// by then is no ground for a verdict.
func (c *Cluster) play(ctx context.Context) error {
	played := c.playScenes(ctx)
	c.timeline.close()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	found, err := c.findings(ctx, played)
	if err != nil {
		return errors.Join(played, err)
	}
	return found.conclude(c.timeline.out, c.timeline.painter)
}

func (c *Cluster) playScenes(ctx context.Context) error {
	ctx, c.fail = context.WithCancelCause(ctx)
	defer c.fail(nil)
	defer c.stop()
	c.timeline.title("1. Election: three replicas, one of them leads")
	if err := c.elect(ctx); err != nil {
		return err
	}
	for i, s := range append(c.show.Scenes, ending) {
		c.timeline.title(fmt.Sprintf("%d. %s", i+2, s.Title))
		leader, err := c.Leader(ctx, Term{})
		if err == nil {
			err = s.Play(ctx, c, leader)
		}
		if err != nil {
			return fmt.Errorf("scene %q: %w", s.Title, err)
		}
	}
	return context.Cause(ctx) // a replica may have failed at the end
}
