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
	long     = time.Minute      // a ttl that does not run out during a test
	patience = 10 * time.Second // for what should happen at once, on a busy machine
)

// scene is one test with a server, clients that reach it directly, and names that no
// other test uses.
type scene struct {
	*testing.T
	server *redistest.Server
	redis  *redis.Client // of the test, which may do everything
	app    *redis.Client // of those who lock: see redistest.LeastPrivilege
	client *Client       // the same
	key    string        // of a lock
	fence  string        // of a fence counter in the same slot
}

var scenes atomic.Int64

// newScene is a parallel test on the shared server.
func newScene(t *testing.T) *scene {
	t.Helper()
	t.Parallel()
	return sceneOn(t, shared)
}

// ownScene is a parallel test that may harm its server.
func ownScene(t *testing.T, config ...string) *scene {
	t.Helper()
	t.Parallel()
	return sceneOn(t, redistest.Start(t, config...))
}

func sceneOn(t *testing.T, server *redistest.Server) *scene {
	name := fmt.Sprintf("redisleader:{%s/%d}", t.Name(), scenes.Add(1))
	app := redis.NewClient(server.Options())
	t.Cleanup(func() { _ = app.Close() })
	return &scene{T: t, server: server, redis: server.Client(t), app: app, client: New(app), key: name + ":lock", fence: name + ":fence"}
}

// user is the name of the user that those who lock are.
func (s *scene) user() string { return cmp.Or(s.server.Options().Username, "default") }

// proxied returns a client that reaches the server through a proxy. It keeps one
// connection, which is set up, knows all scripts to be loaded, and shows every failure:
// go-redis sends nothing again unless configure says so.
func (s *scene) proxied(configure ...func(*redis.Options)) (*faultproxy.Proxy, *Client) {
	s.Helper()
	for _, script := range []script{obtainScript, refreshScript, releaseScript, ttlScript} {
		s.must(script.Load(s.Context(), s.redis).Err())
	}
	proxy := faultproxy.Start(s, s.server.Addr())
	options := s.server.Options()
	options.Addr = proxy.Addr()
	options.PoolSize = 1
	options.MaxRetries = -1
	for _, change := range configure {
		change(options)
	}
	client := redis.NewClient(options)
	s.Cleanup(func() { _ = client.Close() })
	s.must(client.Ping(s.Context()).Err())
	proxy.ResetCommands()
	return proxy, New(client)
}

// resending has go-redis send a command again after a lost reply, as it does by
// default, but sooner.
func resending(o *redis.Options) {
	o.MaxRetries = 3
	o.MinRetryBackoff, o.MaxRetryBackoff = time.Millisecond, 2*time.Millisecond
}

// scripts says what to do with the first script calls; the others pass.
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
func (s *scene) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// obtain obtains the lock of the scene directly.
func (s *scene) obtain(ttl time.Duration, opt *Options) *Lock {
	s.Helper()
	lock, err := s.client.Obtain(s.Context(), s.key, ttl, opt)
	s.must(err)
	return lock
}

// wantGone fails the test unless no such key exists.
func (s *scene) wantGone(key string) {
	s.Helper()
	if fields, err := s.redis.HGetAll(s.Context(), key).Result(); err != nil || len(fields) > 0 {
		s.Errorf("key %q holds %q, %v; want none", key, fields, err)
	}
}

// wantField fails the test unless the hash has the field with that value.
func (s *scene) wantField(key, field, want string) {
	s.Helper()
	if got, err := s.redis.HGet(s.Context(), key, field).Result(); err != nil || got != want {
		s.Errorf("field %s of key %q = %q, %v, want %q", field, key, got, err, want)
	}
}

// wantCounter fails the test unless the fence counter has that value; "" is none.
func (s *scene) wantCounter(want string) {
	s.Helper()
	got, err := s.redis.Get(s.Context(), s.fence).Result()
	if err == redis.Nil {
		err = nil
	}
	if err != nil || got != want {
		s.Errorf("fence counter = %q, %v, want %q", got, err, want)
	}
}

// wantTTL fails the test unless the key lives for at most want, and not much less.
func (s *scene) wantTTL(key string, want time.Duration) {
	s.Helper()
	if got, err := s.redis.PTTL(s.Context(), key).Result(); err != nil || got > want || got < want-patience {
		s.Errorf("ttl of key %q = %v, %v, want %v", key, got, err, want)
	}
}

// eventually waits until the condition holds.
func (s *scene) eventually(what string, condition func() bool) {
	s.Helper()
	for begin := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			s.Fatalf("waited in vain for %s", what)
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

// wantTrouble fails the test unless err is an error that says nothing about who holds
// the lock.
func wantTrouble(t testing.TB, err error) {
	t.Helper()
	if err == nil || errors.Is(err, ErrNotObtained) || errors.Is(err, ErrLockNotHeld) {
		t.Errorf("error = %v, want one of the transport or the server", err)
	}
}

// unused is a client that must not be used: every call panics.
type unused struct{ redis.Scripter }

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}
