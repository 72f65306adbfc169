//go:build unix

package main

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
)

// startTestReplica starts a replica as a user would, by hand, and returns where its
// probes are.
func startTestReplica(t *testing.T, redisURL, resourceURL, identity string) (*program, string) {
	t.Helper()
	p := startProgram(t, "-replica", "-redis", redisURL, "-resource", resourceURL, "-identity", identity, "-lease", "1s", "-listen", "127.0.0.1:0")
	p.await(t, msgReplicaStarted)
	address := regexp.MustCompile(`"address":"([^"]+)"`).FindStringSubmatch(p.text())
	return p, "http://" + address[1]
}

func fetch(t *testing.T, url string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := inspector.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(body)
}

func TestReplicaEndpoints(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	redisURL := "redis://" + server.Addr() + "/0"
	r, _ := startTestResource(t)

	first, leader := startTestReplica(t, redisURL, r.url, "first")
	first.await(t, msgWorkStarted)
	second, follower := startTestReplica(t, redisURL, r.url, "second")
	eventually(t, "the follower knows the leader", func() bool {
		_, text := fetch(t, follower+"/leader")
		return strings.Contains(text, `"state":"candidate"`) && strings.Contains(text, `"leader":"first"`)
	})
	for _, c := range []struct{ url, want string }{
		{leader + "/healthz", "ok"},
		{leader + "/readyz", "ok"},
		{leader + "/leader", `"state":"leading"`},
		{leader + "/metrics", `leader_election_master_status{name="leader-worker"} 1`},
		{follower + "/healthz", "ok"},
		{follower + "/readyz", "ok"}, // ready although it does not lead
		{follower + "/metrics", `leader_election_master_status{name="leader-worker"} 0`},
		{follower + "/metrics", "go_goroutines"},
	} {
		if status, text := fetch(t, c.url); status != http.StatusOK || !strings.Contains(text, c.want) {
			t.Errorf("%s: %d, lacks %q:\n%.2000s", c.url, status, c.want, text)
		}
	}
	eventually(t, "accepted writes", func() bool { return total(r.account().accepted) > 3 })

	_ = first.cmd.Process.Signal(syscall.SIGTERM)
	if status := first.exit(t); status != exitOK {
		t.Errorf("the leader's exit status after SIGTERM is %d", status)
	}
	second.await(t, msgWorkStarted)
	_ = second.cmd.Process.Signal(syscall.SIGINT)
	if status := second.exit(t); status != exitOK {
		t.Errorf("exit status after SIGINT is %d", status)
	}
	if a := r.account(); a.stale != 0 || len(a.accepted) < 1 {
		t.Errorf("account: %+v", a)
	}
}

func TestReplicaRefusesBadSettings(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ flag, value string }{{"-lease", "1ms"}, {"-listen", "nowhere:port"}, {"-name", ""}} {
		p := startProgram(t, "-replica", "-resource", "http://127.0.0.1:1", "-listen", "127.0.0.1:0", c.flag, c.value)
		if status := p.exit(t); status != exitFailed {
			t.Errorf("%s %q: exit status %d", c.flag, c.value, status)
		}
		if text := p.text(); !strings.Contains(text, c.flag) || !strings.Contains(text, c.value) {
			t.Errorf("%s %q: %s", c.flag, c.value, text)
		}
	}
}
