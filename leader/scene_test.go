package leader

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/redislock"
)

func init() { logging.Disable() } // go-redis writes a line for each dial in vain

// patience bounds what should happen soon, on a busy machine.
const patience = 20 * time.Second

// scene is a real server and a fault proxy before it, for candidates behind the proxy
// and beside it.
type scene struct {
	*testing.T
	server *redistest.Server
	proxy  *faultproxy.Proxy
	redis  *redis.Client // of the test, past the proxy; it may do everything
	key    string        // of the lock
}

func newScene(t *testing.T, config ...string) *scene {
	t.Helper()
	s := &scene{T: t, server: redistest.Start(t, config...), key: lockKey(defaultKeyPrefix, "test")}
	s.redis = s.server.Client(t)
	s.proxy = faultproxy.Start(t, s.server.Addr())
	return s
}

// behind makes a candidate that talks to the server through the proxy, beside one that
// does not. Each has a client of its own, as if it were another process.
func (s *scene) behind(identity string, change func(*Config, *replica), options ...func(*redis.Options)) *replica {
	s.Helper()
	return s.candidate(s.proxy.Addr(), identity, change, options)
}

func (s *scene) beside(identity string, change func(*Config, *replica), options ...func(*redis.Options)) *replica {
	s.Helper()
	return s.candidate(s.server.Addr(), identity, change, options)
}

func (s *scene) candidate(addr, identity string, change func(*Config, *replica), options []func(*redis.Options)) *replica {
	s.Helper()
	// The server in memory stays unused; start and join of the replica need one.
	r := &replica{server: newMemServer(), done: make(chan struct{})}
	cfg := Config{Name: "test", Identity: identity, LeaseDuration: testLease, Observer: recorder{r: r}}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { <-ctx.Done() }
	if change != nil {
		change(&cfg, r)
	}
	r.wrapCallbacks(&cfg, func() bool { return s.holder() == identity })
	var err error
	if r.Elector, err = New(redislock.New(s.client(addr, options...)), cfg); err != nil {
		s.Fatal(err)
	}
	return r
}

// user is the name of the user that candidates are: see redistest.LeastPrivilege.
func (s *scene) user() string { return cmp.Or(s.server.Options().Username, "default") }

func (s *scene) client(addr string, options ...func(*redis.Options)) *redis.Client {
	all := s.server.Options()
	all.Addr = addr
	for _, change := range options {
		change(all)
	}
	client := redis.NewClient(all)
	s.Cleanup(func() { _ = client.Close() })
	return client
}

// start runs a candidate. When the test ends its faults end first, and then the
// candidate.
func (s *scene) start(r *replica) *replica {
	r.start(s.T)
	s.Cleanup(s.proxy.Heal)
	return r
}

// lead runs a candidate and waits until it leads.
func (s *scene) lead(r *replica) *replica {
	s.Helper()
	s.start(r)
	s.await(r.cfg.Identity+" leads", r.atWork)
	return r
}

// atWork reports whether the candidate leads and its work has been started.
func (r *replica) atWork() bool {
	term, ok := r.Term()
	return ok && term == r.lastTerm()
}

// starts and stops count the calls of the callbacks.
func (r *replica) starts() int { return r.countEvents("started") }
func (r *replica) stops() int {
	return r.countEvents("stopped, lock held=true") + r.countEvents("stopped, lock held=false")
}

// await polls until condition holds and returns how long that took.
func (s *scene) await(what string, condition func() bool) time.Duration {
	s.Helper()
	return awaitReal(s.T, what, condition)
}

func awaitReal(t *testing.T, what string, condition func() bool) time.Duration {
	t.Helper()
	begin := time.Now()
	for !condition() {
		if time.Since(begin) > patience {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
	return time.Since(begin)
}

// done waits for the end of a context and returns its cause.
func (s *scene) done(ctx context.Context) error {
	s.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		s.Fatal("the context does not end")
	}
	return context.Cause(ctx)
}

// holder is the identity of who holds the lock, "" if nobody does.
func (s *scene) holder() string {
	metadata, err := s.redis.HGet(context.Background(), s.key, "metadata").Result()
	if err != nil {
		return ""
	}
	return decodeCard(metadata).Identity
}

// token is the ownership token in the lock.
func (s *scene) token() string {
	return s.redis.HGet(context.Background(), s.key, "token").Val()
}

// do sends the server a command past the proxy.
func (s *scene) do(args ...any) any {
	s.Helper()
	reply, err := s.redis.Do(context.Background(), args...).Result()
	if err != nil {
		s.Fatalf("%v: %v", args, err)
	}
	return reply
}

// script is one of the scripts of redislock.
type script struct{ source, sum string }

func readScript(tb testing.TB, name string) script {
	tb.Helper()
	source, err := os.ReadFile("../redislock/" + name + ".lua")
	if err != nil {
		tb.Fatal(err)
	}
	sum := sha1.Sum(source)
	return script{string(source), hex.EncodeToString(sum[:])}
}

// runs reports whether a command runs the script, be it by its sum or whole.
func (p script) runs(c faultproxy.Command) bool {
	return c.Name == "EVALSHA" && c.Args[0] == p.sum || c.Name == "EVAL" && c.Args[0] == p.source
}

// calls are the commands seen by the proxy that try to run the script by its sum: one
// for each send.
func (s *scene) calls(p script) []faultproxy.Command {
	return slices.DeleteFunc(s.proxy.Commands(), func(c faultproxy.Command) bool { return c.Name != "EVALSHA" || !p.runs(c) })
}

// Options of clients.
func noRetries(o *redis.Options) { o.MaxRetries, o.DialerRetries = -1, 1 }

// patient makes a client whose reads do not heed contexts, as is the default of go-redis.
func patient(o *redis.Options) { o.ContextTimeoutEnabled, o.ReadTimeout = false, time.Minute }

// tally counts attempts and lets tests look at them, besides what recorder does.
type tally struct {
	recorder
	mu       sync.Mutex
	acquired map[AcquireResult]int
	renewals []Renewal
}

func newTally(r *replica) *tally {
	return &tally{recorder: recorder{r: r}, acquired: make(map[AcquireResult]int)}
}

func (o *tally) AcquireAttempted(_ string, result AcquireResult) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.acquired[result]++
}

func (o *tally) RenewAttempted(_ string, renewal Renewal) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.renewals = append(o.renewals, renewal)
}

func (o *tally) acquires(result AcquireResult) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.acquired[result]
}

// renewed are the attempts to renew that match.
func (o *tally) renewed(match func(Renewal) bool) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := 0
	for _, renewal := range o.renewals {
		if match(renewal) {
			n++
		}
	}
	return n
}

func succeeded(r Renewal) bool { return r.Err == nil }
func failed(r Renewal) bool    { return r.Err != nil }

// guard is a resource that rejects fencing tokens lower than the highest it has seen.
type guard struct {
	mu       sync.Mutex
	highest  int64
	accepted []string // who wrote
}

// write reports whether the resource accepted.
func (g *guard) write(who string, fence int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if fence < g.highest {
		return false
	}
	g.highest = fence
	g.accepted = append(g.accepted, who)
	return true
}

// writers are those whose writes were accepted, each run of writes once.
func (g *guard) writers() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Compact(slices.Clone(g.accepted))
}
