package leadertest

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

// Server stands in for a Redis server, and for a client of it: pass it to redislock.New.
// It runs the scripts of redislock, and nothing else, on keys in memory. Its time is
// time.Now. It is safe for use by many goroutines and starts none.
//
// It makes no announcements, so a candidate notices a release at its next attempt, after
// up to 1.2 times RetryPeriod.
//
// To delay single calls or lose their replies, embed a *Server in a type of your own that
// has its own Eval and EvalSha.
type Server struct {
	mu      sync.Mutex // guards the fields below, and makes scripts run one at a time
	entries map[string]*entry
	loaded  map[string]script // by the SHA-1 of its source
	failure error             // of every command; nil if they succeed
}

var _ redislock.RedisClient = (*Server)(nil)

// NewServer returns a Server without keys.
func NewServer() *Server {
	return &Server{entries: make(map[string]*entry), loaded: make(map[string]script)}
}

// Fail makes every command fail with err, and apply nothing, until Fail(nil). An elector
// cannot tell that from a Redis that is out of reach.
func (s *Server) Fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failure = err
}

// Delete deletes a key, as somebody could in Redis. That of an election's lock is
// leader.LockKey.
func (s *Server) Delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, key)
}

// Take replaces what is at key by the lock of somebody else, who is called "somebody else"
// and does not renew it. ttl is at least 1 ms. The fencing token comes from the counter at
// key + ":fence", as in an election.
func (s *Server) Take(key string, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, key)
	c := s.newCall([]string{key, key + ":fence"}, []any{"token of somebody else", "somebody else", ttl.Milliseconds(), 0, "fc"})
	c.obtain()
}

// Holder returns who holds the lock at key, as redislock.Options.OnHeld would see it, and
// false if nobody does.
func (s *Server) Holder(key string) (redislock.Holder, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.newCall(nil, nil)
	e := c.live(key)
	if e == nil {
		return redislock.Holder{}, false
	}
	h := redislock.Holder{Metadata: e.fields["metadata"], TTL: time.Duration(c.pttl(e)) * time.Millisecond}
	if _, ok := e.fields["token"]; !ok {
		h.Metadata, h.Foreign = e.kind, true
		return h, true
	}
	h.FenceToken, _ = strconv.ParseInt(e.fields["fence"], 10, 64)
	return h, true
}

// Eval runs a script of redislock.
func (s *Server) Eval(ctx context.Context, source string, keys []string, args ...any) *redis.Cmd {
	sum, err := s.load(ctx, source)
	if err != nil {
		return redis.NewCmdResult(nil, err)
	}
	return s.EvalSha(ctx, sum, keys, args...)
}

// EvalSha runs a script of redislock that Eval or ScriptLoad has seen before.
func (s *Server) EvalSha(ctx context.Context, sum string, keys []string, args ...any) *redis.Cmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.unavailable(ctx); err != nil {
		return redis.NewCmdResult(nil, err)
	}
	run, ok := s.loaded[sum]
	if !ok {
		return redis.NewCmdResult(nil, redis.ErrNoScript)
	}
	return redis.NewCmdResult(run(s.newCall(keys, args)), nil)
}

// ScriptLoad makes a script of redislock known to EvalSha.
func (s *Server) ScriptLoad(ctx context.Context, source string) *redis.StringCmd {
	return redis.NewStringResult(s.load(ctx, source))
}

// ScriptExists reports which scripts EvalSha knows.
func (s *Server) ScriptExists(ctx context.Context, sums ...string) *redis.BoolSliceCmd {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.unavailable(ctx); err != nil {
		return redis.NewBoolSliceResult(nil, err)
	}
	known := make([]bool, len(sums))
	for i, sum := range sums {
		_, known[i] = s.loaded[sum]
	}
	return redis.NewBoolSliceResult(known, nil)
}

var errReadOnly = errors.New("leadertest: redislock runs no script with a read-only command")

// EvalRO fails: redislock does not use it.
func (s *Server) EvalRO(context.Context, string, []string, ...any) *redis.Cmd {
	return redis.NewCmdResult(nil, errReadOnly)
}

// EvalShaRO fails: redislock does not use it.
func (s *Server) EvalShaRO(context.Context, string, []string, ...any) *redis.Cmd {
	return redis.NewCmdResult(nil, errReadOnly)
}

func (s *Server) load(ctx context.Context, source string) (sum string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.unavailable(ctx); err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(source, "-- "), " ")
	run, ok := scripts[first]
	if !ok {
		return "", fmt.Errorf("leadertest: not a script of redislock: %.80q", source)
	}
	digest := sha1.Sum([]byte(source))
	sum = hex.EncodeToString(digest[:])
	s.loaded[sum] = run
	return sum, nil
}

// unavailable is why no command can run. The caller holds mu.
func (s *Server) unavailable(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.failure
}
