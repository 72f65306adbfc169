package redistest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// set and get fail the test unless the server answers as it should.
func set(t *testing.T, s *Server, key, value string) {
	t.Helper()
	if err := s.Client(t).Set(t.Context(), key, value, 0).Err(); err != nil {
		t.Fatalf("SET %s: %v", key, err)
	}
}

func get(t *testing.T, s *Server, key string) string {
	t.Helper()
	value, err := s.Client(t).Get(t.Context(), key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		t.Fatalf("GET %s: %v", key, err)
	}
	return value
}

// refused reports whether nobody listens on the address.
func refused(addr string) bool {
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	if err == nil {
		_ = conn.Close()
	}
	return err != nil
}

func TestStartServes(t *testing.T) {
	s := Start(t)
	set(t, s, "k", "v")
	if got := get(t, s, "k"); got != "v" {
		t.Errorf("GET = %q, want v", got)
	}
	if s.Addr() != loopback(s.Port()) {
		t.Errorf("Addr %s does not match port %d", s.Addr(), s.Port())
	}
	if pid := fmt.Sprint(s.proc.pid()); !strings.Contains(s.Log(), pid) {
		t.Errorf("log lacks the process id %s:\n%s", pid, s.Log())
	}
}

func TestLaunchNeedsNoTest(t *testing.T) {
	dir := t.TempDir()
	s, err := Launch(dir, "--maxmemory", "100mb")
	if err != nil {
		t.Fatal(err)
	}
	set(t, s, "k", "v")
	if s.Dir() != dir || s.config.value("--maxmemory") != "100mb" {
		t.Errorf("directory %s, config %q", s.Dir(), s.config)
	}
	s.Stop()
	s.Stop()
	if !refused(s.Addr()) {
		t.Error("still listening after Stop")
	}
}

func TestVersion(t *testing.T) {
	s := Start(t)
	name, number, _ := strings.Cut(s.Version(), " ")
	major, _, _ := strings.Cut(number, ".")
	if n, err := strconv.Atoi(major); name == "" || n < 6 || err != nil {
		t.Errorf("version = %q", s.Version())
	}
	valkey := "redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.0.1\r\n"
	if got := infoVersion(valkey); got != "Valkey 8.0.1" {
		t.Errorf("version = %q", got)
	}
}

func TestStartAppendsConfig(t *testing.T) {
	s := Start(t, "--maxmemory", "100mb", "--appendonly", "yes")
	for name, want := range map[string]string{
		"maxmemory": "104857600", "appendonly": "yes", "save": "", "dir": s.Dir(),
	} {
		got, err := s.Client(t).ConfigGet(t.Context(), name).Result()
		if err != nil {
			t.Fatal(err)
		}
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
}

func TestStartWithPassword(t *testing.T) {
	s := Start(t, "--requirepass", "secret")
	set(t, s, "k", "v")
	client := redis.NewClient(&redis.Options{Addr: s.Addr()})
	defer func() { _ = client.Close() }()
	err := client.Ping(t.Context()).Err()
	if !redis.HasErrorPrefix(err, "NOAUTH") {
		t.Errorf("PING without password: %v, want NOAUTH", err)
	}
	s.Shutdown()
}

func TestServersAreApart(t *testing.T) {
	a, b := Start(t), Start(t)
	if a.Addr() == b.Addr() || a.Dir() == b.Dir() {
		t.Errorf("shared: %s %s, %s %s", a.Addr(), b.Addr(), a.Dir(), b.Dir())
	}
}

func TestServerEndsWithItsTest(t *testing.T) {
	cases := map[string]func(*Server){
		"running": func(*Server) {},
		"frozen":  (*Server).Freeze,
		"killed":  (*Server).Kill,
	}
	for name, prepare := range cases {
		var s *Server
		t.Run(name, func(t *testing.T) {
			s = Start(t)
			prepare(s)
		})
		if !refused(s.Addr()) {
			t.Errorf("%s: still listening after the test", name)
		}
		if _, err := os.Stat(s.Dir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: directory left: %v", name, err)
		}
	}
}

func TestRestartKeepsAddressAndConfig(t *testing.T) {
	s := Start(t, "--appendonly", "yes", "--appendfsync", "always")
	addr := s.Addr()
	for _, end := range []func(){s.Kill, s.Shutdown} {
		set(t, s, "k", "v")
		end()
		if !refused(addr) {
			t.Fatal("still listening when down")
		}
		s.Restart()
		if got := get(t, s, "k"); got != "v" || s.Addr() != addr {
			t.Errorf("after restart on %s: k = %q, want v on %s", s.Addr(), got, addr)
		}
	}
}

func TestShutdownDoesNotSave(t *testing.T) {
	s := Start(t, "--save", "3600 1")
	set(t, s, "k", "v")
	s.Shutdown()
	s.Restart()
	if got := get(t, s, "k"); got != "" {
		t.Errorf("k = %q survived a shutdown without saving", got)
	}
}

func TestDownServerStaysDown(t *testing.T) {
	s := Start(t)
	s.Kill()
	s.Kill()
	s.Shutdown()
	if !refused(s.Addr()) {
		t.Error("listening")
	}
}

func TestRestartWaitsForAServerToEnd(t *testing.T) {
	s := Start(t)
	if err := s.sendShutdown(t.Context()); err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("SHUTDOWN: %v", err)
	}
	s.Restart()
	set(t, s, "k", "v")
}

func TestRestartWaitsForItsPort(t *testing.T) {
	s := Start(t)
	s.Kill()
	other, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run(); !errors.Is(err, errPortTaken) {
		t.Errorf("run on a taken port: %v, want errPortTaken", err)
	}
	timer := time.AfterFunc(50*time.Millisecond, func() { _ = other.Close() })
	defer timer.Stop()
	s.Restart()
	set(t, s, "k", "v")
}

func TestFreezeAndThaw(t *testing.T) {
	s := Start(t)
	client := s.Client(t)
	set(t, s, "k", "v")
	s.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := client.Ping(ctx).Err(); err == nil {
		t.Error("a frozen server answered")
	}
	s.Thaw()
	if got := get(t, s, "k"); got != "v" {
		t.Errorf("k = %q, want v", got)
	}
	s.Freeze()
	s.Shutdown()
	if !refused(s.Addr()) {
		t.Error("a frozen server did not shut down")
	}
}

func TestReplicaFollows(t *testing.T) {
	master := Start(t, "--requirepass", "secret")
	set(t, master, "k", "v")
	replica := Replica(t, master)
	client := redis.NewClient(&redis.Options{Addr: replica.Addr()})
	defer func() { _ = client.Close() }()
	if got, err := client.Get(t.Context(), "k").Result(); got != "v" {
		t.Errorf("GET on the replica = %q, %v, want v", got, err)
	}
	if err := client.Set(t.Context(), "k", "w", 0).Err(); !redis.IsReadOnlyError(err) {
		t.Errorf("SET on the replica: %v, want READONLY", err)
	}
}
