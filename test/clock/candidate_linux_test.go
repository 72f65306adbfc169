package clock

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/internal/leaktest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

func init() { logging.Disable() } // go-redis writes a line for each dial in vain

func TestMain(m *testing.M) { leaktest.Main(m) }

// lockKey is the key of the lock that all candidates compete for.
const lockKey = "redisleader:{clock}"

// candidate writes to the resources for as long as it leads.
type candidate struct {
	*leader.Elector
	leader.NopObserver
	resource *resource

	mu      sync.Mutex
	terms   []leader.Term
	ctx     context.Context // of the last term
	renewed int
}

// candidate makes one and runs it until the test ends.
func (s *server) candidate(identity, addr string, r *resource) *candidate {
	s.t.Helper()
	c := &candidate{resource: r}
	options := s.Options()
	options.Addr = addr
	client := redis.NewClient(options)
	s.t.Cleanup(func() { _ = client.Close() })
	var err error
	c.Elector, err = leader.New(redislock.New(client), leader.Config{
		Name: "clock", Identity: identity, LeaseDuration: lease, Observer: c,
		Callbacks: leader.Callbacks{OnStartedLeading: c.work},
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
	for ctx.Err() == nil {
		c.resource.write(term)
		time.Sleep(2 * time.Millisecond)
	}
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

// tokens are the fencing tokens of its terms so far.
func (c *candidate) tokens() []int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	tokens := make([]int64, len(c.terms))
	for i, term := range c.terms {
		tokens[i] = term.FenceToken()
	}
	return tokens
}

func (c *candidate) lastCtx() context.Context {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.ctx
}

// resource is what the leaders write to: one that rejects fencing tokens lower than the
// highest it has seen, and beside it one that accepts everything, to see whether there
// was anything to reject.
type resource struct {
	mu       sync.Mutex
	highest  int64
	rejected int
	guarded  []string // who wrote, each run of writes once
	open     []string
}

func (r *resource) write(term leader.Term) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.open = slices.Compact(append(r.open, term.Identity()))
	if term.FenceToken() < r.highest {
		r.rejected++
		return
	}
	r.highest = term.FenceToken()
	r.guarded = slices.Compact(append(r.guarded, term.Identity()))
}

func (r *resource) writers() (guarded, open []string, rejected int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.guarded), slices.Clone(r.open), r.rejected
}

func (c *candidate) lastToken() int64 {
	tokens := c.tokens()
	if len(tokens) == 0 {
		return 0
	}
	return tokens[len(tokens)-1]
}
