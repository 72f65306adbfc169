package leader

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/redislock"
)

func init() { logging.Disable() } // go-redis writes a line for each dial that fails

// patience is how long to wait for what should happen soon, on a busy machine.
const patience = 20 * time.Second

// environment is what one test works with: a server, and a fault proxy in front of it.
// Candidates reach the server through the proxy or directly.
type environment struct {
	*testing.T
	server *redistest.Server
	proxy  *faultproxy.Proxy
	redis  *redis.Client // of the test itself, direct and with all rights
	key    string        // of the lock
}

func newEnvironment(t *testing.T, config ...string) *environment {
	t.Helper()
	env := &environment{T: t, server: redistest.Start(t, config...), key: LockKey("", "test")}
	env.redis = env.server.Client(t)
	env.proxy = faultproxy.Start(t, env.server.Addr())
	return env
}

// behind makes a candidate that reaches the server through the proxy. beside makes one
// that reaches it directly. Each has a client of its own, as if it were another
// process.
func (env *environment) behind(identity string, change func(*Config, *replica), options ...func(*redis.Options)) *replica {
	env.Helper()
	return env.candidate(env.proxy.Addr(), identity, change, options)
}

func (env *environment) beside(identity string, change func(*Config, *replica), options ...func(*redis.Options)) *replica {
	env.Helper()
	return env.candidate(env.server.Addr(), identity, change, options)
}

func (env *environment) candidate(addr, identity string, change func(*Config, *replica), options []func(*redis.Options)) *replica {
	env.Helper()
	// The server in memory stays unused; start and join of the replica need one.
	r := &replica{server: newMemServer(), done: make(chan struct{})}
	cfg := r.config(identity, change)
	r.wrapCallbacks(&cfg, func() bool { return env.holder() == identity })
	var err error
	if r.Elector, err = New(redislock.New(env.client(addr, options...)), cfg); err != nil {
		env.Fatal(err)
	}
	return r
}

// user is the user that candidates log in as: see redistest.LeastPrivilege.
func (env *environment) user() string { return cmp.Or(env.server.Options().Username, "default") }

func (env *environment) client(addr string, options ...func(*redis.Options)) *redis.Client {
	all := env.server.Options()
	all.Addr = addr
	for _, change := range options {
		change(all)
	}
	client := redis.NewClient(all)
	env.Cleanup(func() { _ = client.Close() })
	return client
}

// start runs a candidate. When the test ends, its faults end before the candidate does.
func (env *environment) start(r *replica) *replica {
	r.start(env.T)
	env.Cleanup(env.proxy.Heal)
	return r
}

// lead runs a candidate and waits until it leads.
func (env *environment) lead(r *replica) *replica {
	env.Helper()
	env.start(r)
	env.await(r.cfg.Identity+" leads", r.atWork)
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
func (env *environment) await(what string, condition func() bool) time.Duration {
	env.Helper()
	return awaitReal(env.T, what, condition)
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
func (env *environment) done(ctx context.Context) error {
	env.Helper()
	select {
	case <-ctx.Done():
	case <-time.After(patience):
		env.Fatal("the context does not end")
	}
	return context.Cause(ctx)
}

// holder is the identity of who holds the lock, "" if nobody does.
func (env *environment) holder() string {
	metadata, err := env.redis.HGet(context.Background(), env.key, "metadata").Result()
	if err != nil {
		return ""
	}
	return decodeLeaderRecord(metadata).Identity
}

// token is the ownership token in the lock.
func (env *environment) token() string {
	return env.redis.HGet(context.Background(), env.key, "token").Val()
}

// do sends the server a command directly.
func (env *environment) do(args ...any) any {
	env.Helper()
	reply, err := env.redis.Do(context.Background(), args...).Result()
	if err != nil {
		env.Fatalf("%v: %v", args, err)
	}
	return reply
}

// Options of clients.
func noRetries(o *redis.Options) { o.MaxRetries, o.DialerRetries = -1, 1 }

// patient makes a client whose reads ignore contexts, as is the default of go-redis.
func patient(o *redis.Options) { o.ContextTimeoutEnabled, o.ReadTimeout = false, time.Minute }
