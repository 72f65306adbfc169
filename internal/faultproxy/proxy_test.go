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
	for name, configure := range protocols {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t, configure)
			value := string(bytes.Repeat([]byte("\r\n$"), 100_000))
			if err := e.client.Set(t.Context(), "k", value, 0).Err(); err != nil {
				t.Fatal(err)
			}
			if got, err := e.client.Get(t.Context(), "k").Result(); got != value || err != nil {
				t.Errorf("GET returned %d bytes, %v, want %d", len(got), err, len(value))
			}
			if got, err := e.client.HGetAll(t.Context(), "none").Result(); len(got) != 0 || err != nil {
				t.Errorf("HGETALL = %v, %v", got, err)
			}
		})
	}
}

func TestPipelinesKeepTheirOrder(t *testing.T) {
	e := newEnvironment(t)
	replies, err := e.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
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
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.ResetCommands()
	e.client.Do(t.Context(), "set", "k", "v")
	e.client.Get(t.Context(), "k")
	got := e.proxy.Commands()
	if len(got) != 2 {
		t.Fatalf("commands = %+v, want 2", got)
	}
	if got[0].Name != "SET" || !slices.Equal(got[0].Args, []string{"k", "v"}) ||
		!got[0].Forwarded || got[0].Conn != 1 {
		t.Errorf("first = %+v", got[0])
	}
	if got[1].Name != "GET" || got[1].At.Before(got[0].At) || got[1].IsScript() {
		t.Errorf("second = %+v", got[1])
	}
}

func TestPubSub(t *testing.T) {
	for name, configure := range protocols {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t, configure)
			sub := e.client.Subscribe(t.Context(), "a", "b")
			defer func() { _ = sub.Close() }()
			for range 2 {
				if _, err := sub.ReceiveTimeout(t.Context(), timeout); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 10 {
				e.client.Publish(t.Context(), "b", i)
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
	got, err := sub.ReceiveTimeout(t.Context(), timeout)
	if _, ok := got.(*redis.Pong); !ok {
		t.Fatalf("got %v, %v, want a pong", got, err)
	}
}

func TestConnsFollowsClients(t *testing.T) {
	e := newEnvironment(t)
	e.works()
	if got := e.proxy.Conns(); got != 1 {
		t.Errorf("Conns = %d, want 1", got)
	}
	_ = e.client.Close()
	e.eventually("the connection to go", func() bool { return e.proxy.Conns() == 0 })
}

func TestServerEndIsPassedOn(t *testing.T) {
	e := newEnvironment(t)
	e.works()
	e.server.Kill()
	e.eventually("the connection to go", func() bool { return e.proxy.Conns() == 0 })
	e.fails(timeout)
	e.server.Restart()
	e.works()
}

func TestInvalidCommandCutsTheConnection(t *testing.T) {
	e := newEnvironment(t)
	conn, err := net.Dial("tcp", e.proxy.Addr())
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
	var e *environment
	t.Run("inner", func(t *testing.T) {
		e = newEnvironment(t)
		e.works()
		e.proxy.Hole()
	})
	if _, err := net.DialTimeout("tcp", e.proxy.Addr(), time.Second); err == nil {
		t.Error("still listening after the test")
	}
	e.proxy.Heal()
	if _, err := net.DialTimeout("tcp", e.proxy.Addr(), time.Second); err == nil {
		t.Error("Heal brought the proxy back after its test")
	}
}

func TestMethodsAreSafeTogether(t *testing.T) {
	e := newEnvironment(t)
	methods := []func(){
		func() { e.proxy.Delay(time.Millisecond) }, func() { e.proxy.NoReply(1) },
		e.proxy.Hole, e.proxy.Cut, e.proxy.Refuse, e.proxy.Heal,
		func() { e.proxy.OnCommand(func(Command) Action { e.proxy.Heal(); return Pass }) },
		func() { e.proxy.OnCommand(func(Command) Action { return Swallow }) },
		func() { e.proxy.Commands() }, e.proxy.ResetCommands, func() { e.proxy.Conns() },
		func() { _ = e.ping(10 * time.Millisecond) },
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
	e.proxy.Heal()
	e.client = e.connect()
	e.works()
}
