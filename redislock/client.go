package redislock

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/redislock/announce"
)

// RedisClient is what the package needs from a client: the ability to run scripts.
// *redis.Client, *redis.ClusterClient, failover clients and redis.UniversalClient have
// it. ErrUnsupportedClient lists the clients that are refused.
type RedisClient interface {
	redis.Scripter
}

// Client obtains locks through one Redis client. It is safe for use by many goroutines
// and starts none of its own.
type Client struct {
	client        RedisClient
	now           func() clock.Instant
	announcements *announce.Subscriptions
}

// New returns a Client that uses client. It does no I/O. If client is unsupported,
// Check, Obtain and RequestRelease return an error that matches ErrUnsupportedClient.
func New(client RedisClient) *Client {
	return &Client{client: client, now: clock.Now, announcements: announce.New(client)}
}

// Check returns an error that matches ErrUnsupportedClient if the Redis client cannot
// keep a lock in one place or cannot run a script in a single call. Otherwise it
// returns nil. It does no I/O.
func (c *Client) Check() error {
	switch c.client.(type) {
	case nil:
		return fmt.Errorf("%w: nil", ErrUnsupportedClient)
	case *redis.Ring, *redis.Tx, redis.Pipeliner:
		return fmt.Errorf("%w: %T", ErrUnsupportedClient, c.client)
	}
	return nil
}

// Announcements returns the subscriptions that all watches of this Client share. They
// receive the announcements of locks that were obtained with Options.Announce.
func (c *Client) Announcements() *announce.Subscriptions { return c.announcements }

// Obtain is a shortcut for New(client).Obtain(ctx, key, ttl, opt).
func Obtain(ctx context.Context, client RedisClient, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).Obtain(ctx, key, ttl, opt)
}

// ObtainMulti is a shortcut for New(client).ObtainMulti(ctx, keys, ttl, opt).
func ObtainMulti(ctx context.Context, client RedisClient, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	return New(client).ObtainMulti(ctx, keys, ttl, opt)
}

// Obtain tries to obtain the lock named key for ttl (at least 1 ms, rounded up to whole
// milliseconds). Each attempt is one command. opt may be nil.
//
// If somebody else holds the lock and no retry is left, the error is exactly
// ErrNotObtained. With a RetryStrategy, Obtain tries again while somebody else holds
// the lock, until the strategy or ctx ends. If ctx has no deadline, it waits for at
// most ttl. When a context ends the wait, the error matches both ErrNotObtained and the
// context's error. If ctx had ended before the call, the error matches only the
// context's error.
//
// Any other error means that an attempt failed, perhaps after Redis had applied it.
// Before it returns such an error, Obtain tries to delete what it may have created. It
// does so with a context of its own, for a third of ttl but at least 250 ms and at most
// 2 s. Errors are not retried. ErrInvalidTTL, ErrUnsupportedClient and every other
// error about the arguments mean that nothing was sent.
//
// If Redis grants the lock, Obtain returns it, however late the reply. Remaining says
// how much of it is left.
func (c *Client) Obtain(ctx context.Context, key string, ttl time.Duration, opt *Options) (*Lock, error) {
	return c.ObtainMulti(ctx, []string{key}, ttl, opt)
}

// ObtainMulti is Obtain for several locks. It obtains all of them or none, and the Lock
// that it returns refreshes and releases them as one. In a Cluster all keys have to be
// in one slot.
func (c *Client) ObtainMulti(ctx context.Context, keys []string, ttl time.Duration, opt *Options) (*Lock, error) {
	opt = opt.orDefault()
	if err := errors.Join(c.Check(), opt.validate(keys, ttl)); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("redislock: %w", err) // nobody was asked
	}
	r := c.newRequest(keys, ttl, opt)
	return r.acquire(ctx)
}

// RequestRelease asks the holder of the lock named key to release it, if the holder's
// fencing token is fenceToken (0 for a lock without a FenceKey). It needs no ownership
// token, so it works from any machine. The request is stored in the lock and goes with
// it, so it never reaches a later holder. The holder learns of it at its next
// successful Refresh, through Lock.ReleaseRequested, and decides what to do. An elector
// of package leader resigns.
//
// ErrLockNotHeld means that nobody holds the lock with that fencing token. After any
// other error the request may or may not have been stored. It is safe to repeat.
func (c *Client) RequestRelease(ctx context.Context, key string, fenceToken int64) error {
	if err := c.Check(); err != nil {
		return err
	}
	reply, err := c.runInt(ctx, requestScript, []string{key}, fenceToken)
	if err != nil {
		return fmt.Errorf("redislock: request release: %w", err)
	}
	if reply != requested {
		return ErrLockNotHeld
	}
	return nil
}

// unreachable reports whether err means that no connection could be opened, so that
// nothing was sent.
func unreachable(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}
