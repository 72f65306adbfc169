package faultproxy

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/leaktest"
	"github.com/redisleader/redisleader/internal/redistest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// timeout bounds what should happen at once, even on a busy machine.
const timeout = 10 * time.Second

// environment is a client that talks to a server through the proxy, and one that
// talks to it directly.
type environment struct {
	*testing.T
	server         *redistest.Server
	proxy          *Proxy
	client, direct *redis.Client
}

// newEnvironment starts server and proxy. The client does not retry, so that tests see
// each failure; configure may change its options.
func newEnvironment(t *testing.T, configure ...func(*redis.Options)) *environment {
	t.Helper()
	e := &environment{T: t, server: redistest.Start(t)}
	e.direct = e.server.Client(t)
	e.proxy = Start(t, e.server.Addr())
	e.client = e.connect(configure...)
	return e
}

// connect returns another client of the proxy.
func (e *environment) connect(configure ...func(*redis.Options)) *redis.Client {
	options := e.server.Options()
	options.Addr = e.proxy.Addr()
	options.MaxRetries = -1
	options.DialerRetries = 1
	for _, change := range configure {
		change(options)
	}
	client := redis.NewClient(options)
	e.Cleanup(func() { _ = client.Close() })
	return client
}

// works fails the test unless the server answers the client.
func (e *environment) works() {
	e.Helper()
	if err := e.ping(timeout); err != nil {
		e.Fatalf("PING: %v", err)
	}
}

// fails fails the test unless the client gets no answer.
func (e *environment) fails(within time.Duration) {
	e.Helper()
	if err := e.ping(within); err == nil {
		e.Fatal("PING was answered")
	}
}

// ping asks once.
func (e *environment) ping(within time.Duration) error {
	ctx, cancel := context.WithTimeout(e.Context(), within)
	defer cancel()
	return e.client.Ping(ctx).Err()
}

// counter is the value of the key "n", by the direct client.
func (e *environment) counter() int {
	e.Helper()
	n, err := e.direct.Get(e.Context(), "n").Int()
	if err != nil && err != redis.Nil {
		e.Fatal(err)
	}
	return n
}

// eventually waits until the condition holds.
func (e *environment) eventually(what string, condition func() bool) {
	e.Helper()
	for begin := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > timeout {
			e.Fatalf("timed out waiting for %s", what)
		}
	}
}

// sent returns the commands of one name that the proxy has seen.
func (e *environment) sent(name string) []Command {
	var found []Command
	for _, command := range e.proxy.Commands() {
		if command.Name == name {
			found = append(found, command)
		}
	}
	return found
}

// protocols are options for each version of the protocol.
var protocols = map[string]func(*redis.Options){
	"RESP2": func(o *redis.Options) { o.Protocol = 2 },
	"RESP3": func(*redis.Options) {},
}

func oneConnection(o *redis.Options) { o.PoolSize = 1 }
