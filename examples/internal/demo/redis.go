package demo

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
)

const redisPatience = 3 * time.Second

// server is the Redis of a show.
type server struct {
	name     string // for people: the URL may hold a password
	url      string
	client   *redis.Client
	embedded *miniredis.Miniredis // nil for one that is not ours
}

// openServer uses the Redis at a URL, and starts an embedded one without a URL. The
// embedded one keeps a show free of set-up; it is not meant for anything else.
func openServer(ctx context.Context, rawURL string) (*server, error) {
	s := &server{name: "an embedded one", url: rawURL}
	if rawURL == "" {
		s.embedded = miniredis.NewMiniRedis()
		s.embedded.ClockTTL(true) // otherwise its clock stands still, and no lease ever runs out
		if err := s.embedded.StartAddr("127.0.0.1:0"); err != nil {
			return nil, fmt.Errorf("embedded Redis: %w", err)
		}
		s.url = "redis://" + s.embedded.Addr() + "/0"
	}
	opts, err := redis.ParseURL(s.url)
	if err != nil {
		if wrapped, ok := errors.AsType[*url.Error](err); ok {
			err = wrapped.Err // without the URL
		}
		return nil, fmt.Errorf("-redis or REDIS_URL: %w", err)
	}
	if s.embedded == nil {
		s.name = opts.Addr
	}
	opts.ContextTimeoutEnabled = true
	s.client = redis.NewClient(opts)
	ctx, cancel := context.WithTimeout(ctx, redisPatience)
	defer cancel()
	if err := s.client.Ping(ctx).Err(); err != nil {
		return nil, errors.Join(fmt.Errorf("-redis or REDIS_URL: no answer from %s: %w", s.name, err), s.client.Close())
	}
	return s, nil
}

// close leaves nothing of the election behind in a Redis that is not ours: the counter
// of the fencing tokens would stay for good.
func (s *server) close(election string) {
	ctx, cancel := context.WithTimeout(context.Background(), redisPatience)
	defer cancel()
	_ = s.client.Del(ctx, leader.LockKey("", election), leader.FenceKey("", election)).Err()
	_ = s.client.Close()
	if s.embedded != nil {
		s.embedded.Close()
	}
}
