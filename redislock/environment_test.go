package redislock

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

const (
	// long is a ttl that does not run out during a test.
	long = time.Minute

	// patience is how long to wait for what should happen at once, on a busy machine.
	patience = 10 * time.Second
)

// environment is what one test works with: a server, clients that reach it directly,
// and names that no other test uses.
type environment struct {
	*testing.T
	server *redistest.Server
	redis  *redis.Client // of the test itself, with all rights
	app    *redis.Client // of the code under test: see redistest.LeastPrivilege
	client *Client       // on app
	key    string        // of a lock
	fence  string        // of a fence counter in the same slot
}

var environments atomic.Int64

// onSharedServer makes the test parallel, on the server that all such tests share.
func onSharedServer(t *testing.T) *environment {
	t.Helper()
	t.Parallel()
	return onServer(t, shared)
}

// onOwnServer makes the test parallel, on a server of its own that it may harm.
func onOwnServer(t *testing.T, config ...string) *environment {
	t.Helper()
	t.Parallel()
	return onServer(t, redistest.Start(t, config...))
}

func onServer(t *testing.T, server *redistest.Server) *environment {
	name := fmt.Sprintf("redisleader:{%s/%d}", t.Name(), environments.Add(1))
	app := redis.NewClient(server.Options())
	t.Cleanup(func() { _ = app.Close() })
	return &environment{T: t, server: server, redis: server.Client(t), app: app, client: New(app), key: name + ":lock", fence: name + ":fence"}
}

// user is the name of the Redis user that app connects as.
func (e *environment) user() string { return cmp.Or(e.server.Options().Username, "default") }

// as returns a client that connects as a user with these ACL rules, whose password has
// to be "secret".
func (e *environment) as(user string, rules ...string) *redis.Client {
	e.Helper()
	command := []any{"ACL", "SETUSER", user, "reset"}
	for _, rule := range rules {
		command = append(command, rule)
	}
	e.must(e.redis.Do(e.Context(), command...).Err())
	options := e.server.Options()
	options.Username, options.Password = user, "secret"
	client := redis.NewClient(options)
	e.Cleanup(func() { _ = client.Close() })
	return client
}

// proxied returns a client that reaches the server through a proxy. The client has one
// connection, which is already set up, and the server knows all scripts. go-redis
// reports every failure and repeats nothing, unless configure says otherwise.
func (e *environment) proxied(configure ...func(*redis.Options)) (*faultproxy.Proxy, *Client) {
	e.Helper()
	for _, script := range []script{obtainScript, refreshScript, releaseScript, requestScript, ttlScript} {
		e.must(script.Load(e.Context(), e.redis).Err())
	}
	proxy := faultproxy.Start(e, e.server.Addr())
	options := e.server.Options()
	options.Addr = proxy.Addr()
	options.PoolSize = 1
	options.MaxRetries = -1
	for _, change := range configure {
		change(options)
	}
	client := redis.NewClient(options)
	e.Cleanup(func() { _ = client.Close() })
	e.must(client.Ping(e.Context()).Err())
	proxy.ResetCommands()
	return proxy, New(client)
}

// resending makes go-redis send a command again after a lost reply, as it does by
// default, but sooner.
func resending(o *redis.Options) {
	o.MaxRetries = 3
	o.MinRetryBackoff, o.MaxRetryBackoff = time.Millisecond, 2*time.Millisecond
}

// scripts says what the proxy does with the first script calls. All others pass.
func scripts(proxy *faultproxy.Proxy, actions ...faultproxy.Action) {
	proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if !c.IsScript() || len(actions) == 0 {
			return faultproxy.Pass
		}
		action := actions[0]
		actions = actions[1:]
		return action
	})
}

// must fails the test at once if there is an error.
func (e *environment) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// obtain obtains the lock named key, not through a proxy.
func (e *environment) obtain(ttl time.Duration, opt *Options) *Lock {
	e.Helper()
	lock, err := e.client.Obtain(e.Context(), e.key, ttl, opt)
	e.must(err)
	return lock
}

// wantGone fails the test unless no such key exists.
func (e *environment) wantGone(key string) {
	e.Helper()
	if fields, err := e.redis.HGetAll(e.Context(), key).Result(); err != nil || len(fields) > 0 {
		e.Errorf("key %q holds %q, %v; want none", key, fields, err)
	}
}

// wantField fails the test unless the hash has the field with that value.
func (e *environment) wantField(key, field, want string) {
	e.Helper()
	if got, err := e.redis.HGet(e.Context(), key, field).Result(); err != nil || got != want {
		e.Errorf("field %s of key %q = %q, %v, want %q", field, key, got, err, want)
	}
}

// wantCounter fails the test unless the fence counter has that value. "" means that
// there is no counter.
func (e *environment) wantCounter(want string) {
	e.Helper()
	got, err := e.redis.Get(e.Context(), e.fence).Result()
	if err == redis.Nil {
		err = nil
	}
	if err != nil || got != want {
		e.Errorf("fence counter = %q, %v, want %q", got, err, want)
	}
}

// wantTTL fails the test unless the time to live of the key is want or a little less.
func (e *environment) wantTTL(key string, want time.Duration) {
	e.Helper()
	if got, err := e.redis.PTTL(e.Context(), key).Result(); err != nil || got > want || got < want-patience {
		e.Errorf("ttl of key %q = %v, %v, want %v", key, got, err, want)
	}
}

// eventually waits until the condition holds.
func (e *environment) eventually(what string, condition func() bool) {
	e.Helper()
	for begin := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			e.Fatalf("waited in vain for %s", what)
		}
	}
}

// wantErrors fails the test unless err matches each of the targets.
func wantErrors(t testing.TB, err error, targets ...error) {
	t.Helper()
	for _, target := range targets {
		if !errors.Is(err, target) {
			t.Errorf("error = %v, want it to match %v", err, target)
		}
	}
}

// wantFailure fails the test unless err is an error that does not say who holds the
// lock.
func wantFailure(t testing.TB, err error) {
	t.Helper()
	if err == nil || errors.Is(err, ErrNotObtained) || errors.Is(err, ErrLockNotHeld) {
		t.Errorf("error = %v, want one from the connection or the server", err)
	}
}

// unused is a client that must not be used. Every call panics.
type unused struct{ redis.Scripter }

// canceled returns a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
