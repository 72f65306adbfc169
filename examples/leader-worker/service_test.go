//go:build unix

package main

import (
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/redistest"
)

// startService starts the service as a user would.
func startService(t *testing.T, server *redistest.Server, env ...string) *program {
	t.Helper()
	return startSelf(t, "off", append([]string{
		"REDIS_URL=redis://" + server.Addr() + "/0", "HTTP_ADDR=127.0.0.1:0", "LEASE_DURATION=1500ms",
	}, env...))
}

func TestService(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	first := startService(t, server, "IDENTITY=first")
	first.await(t, "Became leader")
	second := startService(t, server, "IDENTITY=second")
	eventually(t, "the follower knows the leader", func() bool {
		code, text := second.get(t, "/leader")
		return code == http.StatusServiceUnavailable && strings.Contains(text, `"leader":"first"`)
	})
	for _, c := range []struct {
		asked      *program
		path, want string
	}{
		{first, "/healthz", "ok"},
		{first, "/readyz", "ok"},
		{first, "/leader", `"state":"leading"`},
		{first, "/", `"state":"leading"`},
		{first, "/metrics", `leader_election_master_status{name="leader-worker"} 1`},
		{second, "/healthz", "ok"},
		{second, "/readyz", "ok"}, // although it does not lead
		{second, "/", `"state":"candidate"`},
		{second, "/metrics", `leader_election_master_status{name="leader-worker"} 0`},
		{second, "/metrics", "go_goroutines"},
	} {
		if code, text := c.asked.get(t, c.path); code != http.StatusOK || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d, lacks %q:\n%.2000s", c.path, code, c.want, text)
		}
	}
	r := register{server.Client(t), "leader-worker"}
	eventually(t, "writes", func() bool { n, err := r.read(t.Context()); return err == nil && n > 3 })

	first.signal(syscall.SIGTERM)
	if status := first.exit(t); status != 0 || !strings.Contains(first.text(), "Lock released") {
		t.Errorf("exit status %d after SIGTERM", status)
	}
	second.await(t, "Became leader")
	second.signal(syscall.SIGINT)
	if status := second.exit(t); status != 0 {
		t.Errorf("exit status %d after SIGINT", status)
	}
}

// While Redis hangs, a shutdown takes a few seconds. Nobody has to wait for it.
func TestASecondSignalEndsTheServiceAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	p := startService(t, server, "LEASE_DURATION=15s")
	p.await(t, "Became leader")
	server.Freeze()
	defer server.Thaw()
	p.signal(syscall.SIGTERM)
	eventually(t, "the first signal", func() bool { code, _ := p.get(t, "/readyz"); return code == http.StatusServiceUnavailable })
	time.Sleep(20 * time.Millisecond) // until the service has seen to the next one
	began := time.Now()
	p.signal(syscall.SIGTERM)
	if status := p.exit(t); status != -1 {
		t.Errorf("exit status %d, want an end by the signal", status)
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTheEnvironmentConfiguresTheService(t *testing.T) {
	for _, name := range []string{"REDIS_URL", "ELECTION_NAME", "IDENTITY", "LEASE_DURATION", "HTTP_ADDR", "LOG_LEVEL"} {
		t.Setenv(name, "")
	}
	cfg, err := readConfig()
	if err != nil || cfg.redis.Addr != "127.0.0.1:6379" || cfg.election != "leader-worker" || cfg.identity != "" ||
		cfg.lease != 15*time.Second || cfg.address != ":8080" || cfg.logLevel != 0 {
		t.Errorf("defaults: %+v, %v", cfg, err)
	}
	for name, value := range map[string]string{
		"REDIS_URL": "redis://u:p@h:7000/3", "ELECTION_NAME": "e", "IDENTITY": "i",
		"LEASE_DURATION": "3s", "HTTP_ADDR": "a:1", "LOG_LEVEL": "debug",
	} {
		t.Setenv(name, value)
	}
	cfg, err = readConfig()
	if err != nil || cfg.redis.Addr != "h:7000" || cfg.redis.DB != 3 || cfg.election != "e" || cfg.identity != "i" ||
		cfg.lease != 3*time.Second || cfg.address != "a:1" || cfg.logLevel != -4 {
		t.Errorf("config: %+v, %v", cfg, err)
	}
}

func TestABadEnvironmentIsNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ setting, want string }{
		{"REDIS_URL=redis://u:secret%zz@h", "REDIS_URL"},
		{"LEASE_DURATION=soon", "LEASE_DURATION"},
		{"LEASE_DURATION=1ms", "LeaseDuration 1ms"},
		{"LOG_LEVEL=loud", "LOG_LEVEL"},
		{"HTTP_ADDR=nowhere:port", "HTTP_ADDR"},
	} {
		p := startSelf(t, "off", []string{"HTTP_ADDR=127.0.0.1:0", c.setting})
		if status := p.exit(t); status != 1 || !strings.Contains(p.text(), c.want) || strings.Contains(p.text(), "secret") {
			t.Errorf("%s: exit status %d, %s", c.setting, status, p.text())
		}
	}
}
