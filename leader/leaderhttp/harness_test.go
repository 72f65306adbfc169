package leaderhttp

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/leaktest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
	"github.com/redisleader/redisleader/redislock"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

var silent = logr.FromSlogHandler(slog.DiscardHandler)

// The lease of the candidates under test, of which RenewDeadline is 1 s.
const (
	lease   = 1500 * time.Millisecond
	renewal = lease / 3
)

// server is a Redis in memory that can also leave commands without a reply.
type server struct {
	*leadertest.Server
	mu      sync.Mutex
	hanging bool
}

// hang makes each command wait for the end of its context.
func (s *server) hang() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hanging = true
}

func (s *server) EvalSha(ctx context.Context, sum string, keys []string, args ...any) *redis.Cmd {
	s.mu.Lock()
	hanging := s.hanging
	s.mu.Unlock()
	if hanging {
		<-ctx.Done()
	}
	return s.Server.EvalSha(ctx, sum, keys, args...)
}

// bubble runs a test with a server, and a clock that stands still while anything can run.
func bubble(t *testing.T, test func(t *testing.T, s *server)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { test(t, &server{Server: leadertest.NewServer()}) })
}

// candidate is an elector under test.
type candidate struct {
	*leader.Elector
	identity string
	cancel   context.CancelFunc // makes Run end
	done     chan struct{}      // closed when it has
}

// newCandidate makes a candidate that does not run yet. change may adjust its
// configuration; without a work of its own it leads until its context is done.
func newCandidate(t *testing.T, s *server, identity string, change func(*leader.Config)) *candidate {
	t.Helper()
	cfg := leader.Config{Name: "test", Identity: identity, LeaseDuration: lease, Logger: silent}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ leader.Term) { <-ctx.Done() }
	if change != nil {
		change(&cfg)
	}
	e, err := leader.New(redislock.New(s), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &candidate{Elector: e, identity: identity, done: make(chan struct{})}
}

// start runs the candidate until the test, and so its bubble, ends. It returns when the
// candidate has done what it can do at this moment.
func (c *candidate) start(t *testing.T) *candidate {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	c.cancel = cancel
	go func() {
		defer close(c.done)
		if err := c.Run(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(c.stop)
	synctest.Wait()
	return c
}

// stop ends Run and waits for that.
func (c *candidate) stop() {
	c.cancel()
	<-c.done
}

// await lets the bubble's time pass until condition holds, for at most limit, and fails the
// test if it does not.
func await(t *testing.T, limit time.Duration, what string, condition func() bool) {
	t.Helper()
	start := time.Now()
	for synctest.Wait(); !condition(); synctest.Wait() {
		if time.Since(start) > limit {
			t.Fatalf("not within %v: %s", limit, what)
		}
		time.Sleep(time.Millisecond)
	}
}

// sleepToTheEnd sleeps until the term of a leader whose renewals stop ends. It calls
// meanwhile before that, and looks at nothing at the very end.
func sleepToTheEnd(c *candidate, meanwhile func()) {
	// From here on, what the clock since boot shows of real time no longer matters.
	time.Sleep(renewal)
	synctest.Wait()
	term, _ := c.Term()
	time.Sleep(renewal / 4)
	left := term.Remaining()
	for ; left > renewal/4; left = term.Remaining() {
		meanwhile()
		time.Sleep(renewal / 4)
	}
	time.Sleep(left)
}

// untilFinished makes work that does not heed its context.
func untilFinished(finish <-chan struct{}) func(*leader.Config) {
	return func(cfg *leader.Config) {
		cfg.Callbacks.OnStartedLeading = func(context.Context, leader.Term) { <-finish }
	}
}

// stuck is an Observer that blocks the goroutine of Run from the first renewal, which
// counts, until thaw is closed.
type stuck struct {
	leader.NopObserver
	thaw <-chan struct{}
}

func (s stuck) RenewAttempted(string, leader.Renewal) { <-s.thaw }

// untilThaw makes an elector that hangs.
func untilThaw(thaw <-chan struct{}) func(*leader.Config) {
	return func(cfg *leader.Config) { cfg.Observer = stuck{thaw: thaw} }
}

// get asks a handler as a client that accepts these types.
func get(handler http.Handler, types, url string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, url, nil)
	if types != "" {
		request.Header.Set("Accept", types)
	}
	reply := httptest.NewRecorder()
	handler.ServeHTTP(reply, request)
	return reply
}

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"
