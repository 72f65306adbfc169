package faultproxy

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

func TestProxyIsTransparent(t *testing.T) {
	for name, configure := range map[string]func(*redis.Options){"RESP2": resp2, "RESP3": func(*redis.Options) {}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, configure)
			value := string(bytes.Repeat([]byte("\r\n$"), 100_000))
			if err := s.client.Set(t.Context(), "k", value, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if got, err := s.client.Get(t.Context(), "k").Result(); got != value || err != nil {
				t.Errorf("GET returned %d bytes, %v, want %d", len(got), err, len(value))
			}
			if got, err := s.client.HGetAll(t.Context(), "none").Result(); len(got) != 0 || err != nil {
				t.Errorf("HGETALL = %v, %v", got, err)
			}
		})
	}
}

func TestPipelinesKeepTheirOrder(t *testing.T) {
	s := newScene(t)
	replies, err := s.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
		for i := range 1000 {
			p.Echo(t.Context(), i)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, reply := range replies {
		if got := reply.(*redis.StringCmd).Val(); got != fmt.Sprint(i) {
			t.Fatalf("reply %d = %q", i, got)
		}
	}
}

func TestCommandsAreRecorded(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.ResetCommands()
	s.client.Do(t.Context(), "set", "k", "v")
	s.client.Get(t.Context(), "k")
	got := s.proxy.Commands()
	if len(got) != 2 {
		t.Fatalf("commands = %+v, want 2", got)
	}
	if got[0].Name != "SET" || !slices.Equal(got[0].Args, []string{"k", "v"}) || !got[0].Forwarded || got[0].Conn != 1 {
		t.Errorf("first = %+v", got[0])
	}
	if got[1].Name != "GET" || got[1].At.Before(got[0].At) || got[1].IsScript() {
		t.Errorf("second = %+v", got[1])
	}
}

func TestPubSub(t *testing.T) {
	for name, configure := range map[string]func(*redis.Options){"RESP2": resp2, "RESP3": func(*redis.Options) {}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, configure)
			sub := s.client.Subscribe(t.Context(), "a", "b")
			defer func() { _ = sub.Close() }()
			for range 2 {
				if _, err := sub.ReceiveTimeout(t.Context(), patience); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 10 {
				s.client.Publish(t.Context(), "b", i)
				got, err := sub.ReceiveMessage(t.Context())
				if err != nil || got.Payload != fmt.Sprint(i) {
					t.Fatalf("message %d = %v, %v", i, got, err)
				}
				if i == 5 {
					receivePong(t, sub)
				}
			}
		})
	}
}

// receivePong checks that ordinary replies get through among messages.
func receivePong(t *testing.T, sub *redis.PubSub) {
	t.Helper()
	if err := sub.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := sub.ReceiveTimeout(t.Context(), patience)
	if _, ok := got.(*redis.Pong); !ok {
		t.Fatalf("got %v, %v, want a pong", got, err)
	}
}

func TestConnsFollowsClients(t *testing.T) {
	s := newScene(t)
	s.works()
	if got := s.proxy.Conns(); got != 1 {
		t.Errorf("Conns = %d, want 1", got)
	}
	_ = s.client.Close()
	s.eventually("the connection to go", func() bool { return s.proxy.Conns() == 0 })
}

func TestServerEndIsPassedOn(t *testing.T) {
	s := newScene(t)
	s.works()
	s.server.Kill()
	s.eventually("the connection to go", func() bool { return s.proxy.Conns() == 0 })
	s.fails(patience)
	s.server.Restart()
	s.works()
}

func TestNonsenseIsCut(t *testing.T) {
	s := newScene(t)
	conn, err := net.Dial("tcp", s.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		t.Fatal(err)
	}
	if n, err := conn.Read(make([]byte, 10)); err == nil {
		t.Errorf("read %d bytes, want a cut", n)
	}
}

func TestCleanupEndsOpenConnections(t *testing.T) {
	var s *scene
	t.Run("inner", func(t *testing.T) {
		s = newScene(t)
		s.works()
		s.proxy.Hole()
	})
	if _, err := net.DialTimeout("tcp", s.proxy.Addr(), time.Second); err == nil {
		t.Error("still listening after the test")
	}
	s.proxy.Heal()
	if _, err := net.DialTimeout("tcp", s.proxy.Addr(), time.Second); err == nil {
		t.Error("Heal brought the proxy back after its test")
	}
}

func TestMethodsAreSafeTogether(t *testing.T) {
	s := newScene(t)
	methods := []func(){
		func() { s.proxy.Delay(time.Millisecond) }, s.proxy.Hole, func() { s.proxy.NoReply(1) }, s.proxy.Cut,
		s.proxy.Refuse, s.proxy.Heal, func() { s.proxy.OnCommand(func(Command) Action { s.proxy.Heal(); return Pass }) },
		func() { s.proxy.Commands() }, s.proxy.ResetCommands, func() { s.proxy.Conns() },
		func() { _ = s.ping(10 * time.Millisecond) }, func() { s.proxy.OnCommand(func(Command) Action { return Swallow }) },
	}
	var joined sync.WaitGroup
	for _, method := range methods {
		joined.Go(func() {
			for range 20 {
				method()
			}
		})
	}
	joined.Wait()
	s.proxy.Heal()
	s.client = s.connect()
	s.works()
}
