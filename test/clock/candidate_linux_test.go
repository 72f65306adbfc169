package clock

import (
	"context"
	"log/slog"
	"sync"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// electionName is leader.Config.Name of all candidates.
const electionName = "clock"

// candidate writes to the resource for as long as it leads.
type candidate struct {
	*leader.Elector
	leader.NopObserver
	resource *resource

	mu      sync.Mutex
	terms   []leader.Term
	ctx     context.Context // of the last term
	renewed int
}

// candidate starts a candidate, which runs until the test ends.
func (s *server) candidate(identity, addr string, r *resource) *candidate {
	s.t.Helper()
	c := &candidate{resource: r}
	options := s.Options()
	options.Addr = addr
	client := redis.NewClient(options)
	s.t.Cleanup(func() { _ = client.Close() })
	var err error
	c.Elector, err = leader.New(redislock.New(client), leader.Config{
		Name:          electionName,
		Identity:      identity,
		LeaseDuration: lease,
		Observer:      c,
		Logger:        logr.FromSlogHandler(slog.DiscardHandler),
		Callbacks:     leader.Callbacks{OnStartedLeading: c.work},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			s.t.Error(err)
		}
	})
	return c
}

func (c *candidate) work(ctx context.Context, term leader.Term) {
	c.mu.Lock()
	c.terms, c.ctx = append(c.terms, term), ctx
	c.mu.Unlock()
	_ = leader.Every(ctx, writeEvery, func(context.Context) error {
		c.resource.write(term)
		return nil
	})
}

// RenewAttempted counts the renewals that succeeded.
func (c *candidate) RenewAttempted(_ string, renewal leader.Renewal) {
	if renewal.Err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.renewed++
	}
}

func (c *candidate) renewals() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.renewed
}

// tokens returns the fencing tokens of its terms so far.
func (c *candidate) tokens() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	tokens := make([]int64, len(c.terms))
	for i, term := range c.terms {
		tokens[i] = term.FenceToken()
	}
	return tokens
}

// hasBegun reports whether the work of a term has begun.
func (c *candidate) hasBegun(term leader.Term) bool {
	tokens := c.tokens()
	return len(tokens) > 0 && tokens[len(tokens)-1] == term.FenceToken()
}

// lastCtx is the context of the work of its last term.
func (c *candidate) lastCtx() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}
