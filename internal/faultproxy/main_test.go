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

// patience bounds what should happen at once, on a busy machine.
const patience = 10 * time.Second

// scene is a client that talks to a server through the proxy, and one that
// talks to it directly.
type scene struct {
	*testing.T
	server         *redistest.Server
	proxy          *Proxy
	client, direct *redis.Client
}

// newScene sets the scene. The client does not retry, so that tests see each
// failure; configure may change its options.
func newScene(t *testing.T, configure ...func(*redis.Options)) *scene {
	t.Helper()
	s := &scene{T: t, server: redistest.Start(t)}
	s.direct = s.server.Client(t)
	s.proxy = Start(t, s.server.Addr())
	s.client = s.connect(configure...)
	return s
}

// connect returns a further client of the proxy.
func (s *scene) connect(configure ...func(*redis.Options)) *redis.Client {
	options := s.server.Options()
	options.Addr = s.proxy.Addr()
	options.MaxRetries = -1
	options.DialerRetries = 1
	for _, change := range configure {
		change(options)
	}
	client := redis.NewClient(options)
	s.Cleanup(func() { _ = client.Close() })
	return client
}

// works fails the test unless the client gets through.
func (s *scene) works() {
	s.Helper()
	if err := s.ping(patience); err != nil {
		s.Fatalf("PING: %v", err)
	}
}

// fails fails the test unless the client gets no answer.
func (s *scene) fails(within time.Duration) {
	s.Helper()
	if err := s.ping(within); err == nil {
		s.Fatal("PING was answered")
	}
}

// ping asks once.
func (s *scene) ping(within time.Duration) error {
	ctx, cancel := context.WithTimeout(s.Context(), within)
	defer cancel()
	return s.client.Ping(ctx).Err()
}

// counter is the value of the key "n", asked past the proxy.
func (s *scene) counter() int {
	s.Helper()
	n, err := s.direct.Get(s.Context(), "n").Int()
	if err != nil && err != redis.Nil {
		s.Fatal(err)
	}
	return n
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

// sent returns the commands of one name that the proxy has seen.
func (s *scene) sent(name string) []Command {
	var found []Command
	for _, command := range s.proxy.Commands() {
		if command.Name == name {
			found = append(found, command)
		}
	}
	return found
}

func resp2(o *redis.Options) { o.Protocol = 2 }

func oneConnection(o *redis.Options) { o.PoolSize = 1 }
