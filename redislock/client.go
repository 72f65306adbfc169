package redislock

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/clock"
)

// Bounds of a call that is detached from the caller's context, because that has often ended by then: a third of the ttl, after
// which there is soon nothing left to delete, within these limits.
const (
	minDetached = 250 * time.Millisecond
	maxDetached = 2 * time.Second
)

// RedisClient is what the package needs of a client: the ability to run scripts. *redis.Client, *redis.ClusterClient,
// failover clients and redis.UniversalClient have it; for those that are refused see ErrUnsupportedClient.
type RedisClient interface {
	redis.Scripter
}

// Client obtains locks through one Redis client. It is safe for use by many goroutines, keeps no connection and starts no
// goroutine of its own.
type Client struct {
	client RedisClient
	now    func() clock.Instant
}

// New returns a Client that uses client. A client that is unsupported is reported by each Obtain.
func New(client RedisClient) *Client {
	return &Client{client: client, now: clock.Now}
}

// Obtain is a short cut for New(client).Obtain(ctx, key, ttl, opt).
func Obtain(ctx context.Context, client RedisClient, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).Obtain(ctx, key, ttl, opt)
}

// ObtainMulti is a short cut for New(client).ObtainMulti(ctx, keys, ttl, opt).
func ObtainMulti(ctx context.Context, client RedisClient, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).ObtainMulti(ctx, keys, ttl, opt)
}

// Obtain tries to obtain the lock named key for ttl (at least 1 ms, rounded up to whole milliseconds). Each attempt is one
// command. Options may be nil.
//
// If somebody else holds the lock and there are no retries, or no more, it returns exactly ErrNotObtained. With a
// RetryStrategy it waits until ctx ends; a ctx without a deadline is capped by ttl. Then the error matches both
// ErrNotObtained and the context's error.
//
// An error that matches neither says that an attempt failed, perhaps after Redis applied it. Before returning it, Obtain
// tries to delete what it may have created, with a detached context, for a third of the ttl but at least 250 ms and at most 2 s. Errors are not retried. Matched are
// also ErrInvalidTTL and ErrUnsupportedClient; then, and for all invalid options, nothing was sent.
//
// The lock is returned on an affirmative reply, however late that came: Remaining says what is left.
func (c *Client) Obtain(ctx context.Context, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return c.ObtainMulti(ctx, []string{key}, ttl, opt)
}

// ObtainMulti is Obtain for several locks, all or none, which then live and go as one. In a Cluster they have to be in
// one slot.
func (c *Client) ObtainMulti(ctx context.Context, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	opt = opt.orDefault()
	if err := errors.Join(c.supported(), opt.validate(keys, ttl)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, interrupted(err)
	}
	return c.acquire(ctx, newRequest(keys, ttl, opt))
}

// supported reports whether the client can keep a lock in one place and run a script in a single call.
func (c *Client) supported() error {
	switch c.client.(type) {
	case nil:
		return fmt.Errorf("%w: nil", ErrUnsupportedClient)
	case *redis.Ring, *redis.Tx, redis.Pipeliner:
		return fmt.Errorf("%w: %T", ErrUnsupportedClient, c.client)
	}
	return nil
}

// request is one Obtain: the same for each of its attempts, so that Redis recognises one that it has applied already.
type request struct {
	keys  []string // the locks
	token string
	ttl   time.Duration
	opt   *Options

	scriptKeys []string // the locks, and the fence key if there is one
	scriptArgs []any
}

func newRequest(keys []string, ttl time.Duration, opt *Options) *request {
	r := &request{keys: keys, token: opt.Token, ttl: ttl, opt: opt, scriptKeys: keys}
	if r.token == "" {
		r.token = randomToken()
	}
	if opt.FenceKey != "" {
		r.scriptKeys = append(keys[:len(keys):len(keys)], opt.FenceKey)
	}
	r.scriptArgs = []any{r.token, opt.Metadata, milliseconds(ttl), len(keys), strconv.FormatInt(opt.FenceFloor, 10), opt.FenceClock}
	return r
}

// randomToken is 128 bits from crypto/rand, which crashes the program rather than return less.
func randomToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// acquire makes attempts until one is decided or waiting ends.
func (c *Client) acquire(ctx context.Context, r *request) (*Lock, error) {
	wait := newWaiter(ctx, r.opt.strategy(), r.ttl)
	defer wait.stop()
	for held := false; ; held = true {
		lock, err := c.attempt(wait.ctx, r)
		if err == ErrNotObtained {
			if err = wait.next(); err == nil {
				continue
			}
			return nil, err
		}
		if err != nil {
			c.cleanUp(ctx, r)
			return nil, wait.explain(err, held)
		}
		return lock, nil
	}
}

// attempt runs the script once.
func (c *Client) attempt(ctx context.Context, r *request) (*Lock, error) {
	sent := c.now()
	reply, err := obtainScript.Run(ctx, c.client, r.scriptKeys, r.scriptArgs...).Result()
	if err != nil {
		return nil, explain(err, r.keys, r.opt.FenceKey)
	}
	fence, holder, err := obtainReply(reply, r.opt.FenceKey)
	if err != nil {
		return nil, err
	}
	if holder != nil {
		if r.opt.OnHeld != nil {
			r.opt.OnHeld(*holder)
		}
		return nil, ErrNotObtained
	}
	return &Lock{
		client:   c,
		keys:     r.keys,
		token:    r.token,
		metadata: r.opt.Metadata,
		fence:    fence,
		lease:    lease{sent: sent, span: usable(r.ttl)},
	}, nil
}

// cleanUp deletes what an attempt of unknown outcome may have created. Even an error that Redis sent leaves the outcome
// unknown: the client library silently sends a command again after a lost reply. A token that the caller chose may
// stand for a lock obtained earlier, which is not ours to delete.
func (c *Client) cleanUp(ctx context.Context, r *request) {
	if r.opt.Token != "" {
		return
	}
	ctx, cancel := detach(ctx, r.ttl)
	defer cancel()
	_ = releaseScript.Run(ctx, c.client, r.keys, r.token).Err() // the ttl deletes what this does not
}

// detach keeps ctx's values, but neither its end nor its deadline.
func detach(ctx context.Context, ttl time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), max(minDetached, min(ttl/3, maxDetached)))
}
