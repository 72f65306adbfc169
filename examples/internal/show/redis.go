package show

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// Redis is the server of a demo. The embedded one keeps a demo free of set-up; it is
// not meant for anything else.
type Redis struct {
	URL      string
	Embedded bool
	server   *miniredis.Miniredis
}

// StartEmbedded starts a Redis on a free port of the loopback interface.
func StartEmbedded() (*Redis, error) {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // otherwise its clock stands still, and no lease ever runs out
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return nil, fmt.Errorf("embedded Redis: %w", err)
	}
	return &Redis{URL: "redis://" + server.Addr() + "/0", Embedded: true, server: server}, nil
}

// OpenRedis is the Redis at a URL if somebody answers there, and an embedded one
// without a URL.
func OpenRedis(ctx context.Context, rawURL string) (*Redis, error) {
	if rawURL == "" {
		return StartEmbedded()
	}
	r := &Redis{URL: rawURL}
	err := r.With(ctx, func(ctx context.Context, client *redis.Client) error { return client.Ping(ctx).Err() })
	if err != nil {
		return nil, fmt.Errorf("no answer from the Redis given by -redis or REDIS_URL: %w", err)
	}
	return r, nil
}

// Close stops an embedded one.
func (r *Redis) Close() {
	if r.server != nil {
		r.server.Close()
	}
}

func (r *Redis) String() string {
	if r.Embedded {
		return "an embedded one"
	}
	return "the one you gave"
}

// With lends a client for a few quick commands.
func (r *Redis) With(ctx context.Context, do func(context.Context, *redis.Client) error) error {
	client, err := Dial(r.URL)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return do(ctx, client)
}

// Dial returns a client that is fit for locks: without ContextTimeoutEnabled a deadline
// would not interrupt a call that hangs. The error never shows the URL, which may hold
// a password.
func Dial(rawURL string) (*redis.Client, error) {
	opts, err := redis.ParseURL(rawURL)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err
		}
		return nil, fmt.Errorf("the URL of Redis, -redis or REDIS_URL: %w", err)
	}
	opts.ContextTimeoutEnabled = true
	return redis.NewClient(opts), nil
}
