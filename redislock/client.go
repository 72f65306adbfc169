package redislock

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/clock"
)

// RedisClient is what the package needs of a client: the ability to run scripts.
// *redis.Client, *redis.ClusterClient, failover clients and redis.UniversalClient have
// it; for those that are refused see ErrUnsupportedClient.
type RedisClient interface {
	redis.Scripter
}

// Client obtains locks through one Redis client. It is safe for use by many goroutines.
// While somebody watches a lock it keeps one connection for announcements and the
// goroutines that serve it; otherwise it has neither.
type Client struct {
	client RedisClient
	now    func() clock.Instant
	hub    hub
}

// New returns a Client that uses client. A client that is unsupported is reported by
// each Obtain.
func New(client RedisClient) *Client {
	c := &Client{client: client, now: clock.Now}
	c.hub.client, _ = client.(subscriber)
	c.hub.channel = rand.N(channels)
	c.hub.ended.L = &c.hub.mu
	return c
}

// Obtain is a short cut for New(client).Obtain(ctx, key, ttl, opt).
func Obtain(ctx context.Context, client RedisClient, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).Obtain(ctx, key, ttl, opt)
}

// ObtainMulti is a short cut for New(client).ObtainMulti(ctx, keys, ttl, opt).
func ObtainMulti(ctx context.Context, client RedisClient, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).ObtainMulti(ctx, keys, ttl, opt)
}

// Obtain tries to obtain the lock named key for ttl (at least 1 ms, rounded up to whole
// milliseconds). Each attempt is one command. Options may be nil.
//
// If somebody else holds the lock and there are no retries, or no more, it returns
// exactly ErrNotObtained. With a RetryStrategy it waits until ctx ends; a ctx without a
// deadline is capped by ttl. Then the error matches both ErrNotObtained and the
// context's error. If ctx has ended already, the error matches the context's alone.
//
// An error that matches neither says that an attempt failed, perhaps after Redis
// applied it. Before returning it, Obtain tries to delete what it may have created,
// with a detached context, for a third of the ttl but at least 250 ms and at most 2 s.
// Errors are not retried. Matched are also ErrInvalidTTL and ErrUnsupportedClient;
// then, and for all invalid options, nothing was sent.
//
// The lock is returned on an affirmative reply, however late that came: Remaining says
// what is left.
func (c *Client) Obtain(ctx context.Context, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return c.ObtainMulti(ctx, []string{key}, ttl, opt)
}

// ObtainMulti is Obtain for several locks, all or none, which then live and go as one.
// In a Cluster they have to be in one slot.
func (c *Client) ObtainMulti(ctx context.Context, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	opt = opt.orDefault()
	if err := errors.Join(c.supported(), opt.validate(keys, ttl)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("redislock: %w", err) // nobody was asked
	}
	r := c.newRequest(keys, ttl, opt)
	return r.acquire(ctx)
}

// supported reports whether the client can keep a lock in one place and run a script in
// a single call.
func (c *Client) supported() error {
	switch c.client.(type) {
	case nil:
		return fmt.Errorf("%w: nil", ErrUnsupportedClient)
	case *redis.Ring, *redis.Tx, redis.Pipeliner:
		return fmt.Errorf("%w: %T", ErrUnsupportedClient, c.client)
	}
	return nil
}

// request is one Obtain: the same for each of its attempts, so that Redis recognises
// one that it has applied already.
type request struct {
	lock *Lock // what the caller gets when an attempt succeeds
	ttl  time.Duration
	opt  *Options

	keys []string // of the script: the locks, and the fence key if there is one
}

func (c *Client) newRequest(keys []string, ttl time.Duration, opt *Options) request {
	l := newLock(c, keys, opt)
	r := request{lock: l, ttl: ttl, opt: opt, keys: l.keys}
	if opt.FenceKey != "" {
		r.keys = append(l.keys, opt.FenceKey) // newLock has left room
	}
	l.obtainTTL = milliseconds(ttl)
	l.obtainArgs = [5]any{&l.token, &l.metadata, &l.obtainTTL, &opt.FenceFloor, &l.flags}
	return r
}

// randomToken is 128 bits from crypto/rand, which crashes the program rather than
// return less.
func randomToken() string {
	var random [16]byte
	var text [22]byte
	_, _ = cryptorand.Read(random[:])
	base64.RawURLEncoding.Encode(text[:], random[:])
	return string(text[:])
}

// acquire makes attempts until one is decided or waiting ends.
func (r *request) acquire(ctx context.Context) (*Lock, error) {
	wait := newWaiter(ctx, r.opt.strategy(), r.ttl)
	defer wait.stop()
	for held := false; ; held = true {
		err := r.attempt(wait.ctx)
		if err == ErrNotObtained {
			if err = wait.next(); err == nil {
				continue
			}
			return nil, err
		}
		if err != nil {
			err = wait.explain(err, held) // as things are now, not after the clean-up
			r.cleanUp(ctx, err)
			return nil, err
		}
		return r.lock, nil
	}
}

// attempt runs the script once.
func (r *request) attempt(ctx context.Context) error {
	l := r.lock
	sent := l.client.now()
	reply, err := l.client.run(ctx, obtainScript, r.keys, l.obtainArgs[:]...)
	if err != nil {
		return explain(err, l.keys, r.opt.FenceKey)
	}
	fence, holder, err := obtainReply(reply, r.opt.FenceKey)
	if err != nil {
		return err
	}
	if holder != nil {
		if r.opt.OnHeld != nil {
			r.opt.OnHeld(*holder)
		}
		return ErrNotObtained
	}
	l.fence, l.lease.sent, l.lease.span = fence, sent, usable(r.ttl)
	return nil
}

// cleanUp deletes what an attempt of unknown outcome may have created. Even an error
// that Redis sent leaves the outcome unknown: the client library silently sends a
// command again after a lost reply. A token that the caller chose may stand for a lock
// obtained earlier, which is not ours to delete; and a server that could not be reached
// just now is not asked again.
func (r *request) cleanUp(ctx context.Context, err error) {
	if r.opt.Token != "" || unreachable(err) {
		return
	}
	// On a connection of its own the deletion may overtake the attempt. Redis replies
	// after a turn of its event loop, in which it has then done both: a second look
	// finds what the first came too early for.
	ctx, cancel := detach(ctx, r.ttl)
	defer cancel()
	for range 2 {
		reply, err := r.lock.runRelease(ctx)
		if err != nil || reply != releasedNothing {
			return // the ttl deletes what this did not
		}
	}
}

// unreachable reports whether err says that there was no connection to send anything on.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}
