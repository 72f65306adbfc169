package metrics_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/metrics"
	"github.com/redisleader/redisleader/redislock"
)

// replicaEnv makes this test binary run as a replica. It holds the lease of the replica and
// the address of Redis.
const replicaEnv = "REDISLEADER_METRICS_REPLICA"

// beReplica competes and serves its metrics, at the address that it prints, until
// standard input ends: it does not outlive the test that started it.
func beReplica(settings string) error {
	text, addr, _ := strings.Cut(settings, " ")
	lease, err := time.ParseDuration(text)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	registry := prometheus.NewPedanticRegistry()
	observer, err := metrics.New(registry)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go func() { _ = http.Serve(listener, promhttp.HandlerFor(registry, promhttp.HandlerOpts{})) }()
	fmt.Println(listener.Addr())
	logging.Disable() // go-redis reports each dial that fails
	client := redis.NewClient(&redis.Options{Addr: addr, ContextTimeoutEnabled: true})
	return leader.Run(ctx, redislock.New(client), leader.Config{
		Name: "billing", LeaseDuration: lease, Observer: observer,
		Callbacks: leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) { <-ctx.Done() }},
	})
}

// replica is a process that competes and can be scraped.
type replica struct {
	name string
	url  string
	cmd  *exec.Cmd
}

func startReplica(t *testing.T, name string, server *redistest.Server, lease time.Duration) *replica {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%v %s", replicaEnv, lease, server.Addr()))
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill() // it may be frozen, or killed already
		_ = cmd.Wait()
	})
	addr, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("replica %s: no address: %v", name, err)
	}
	return &replica{name, "http://" + strings.TrimSpace(addr) + "/metrics", cmd}
}

// scrape returns the values of the replica's series as they are printed, and none if it does
// not answer in time.
func (r *replica) scrape(client *http.Client) map[string]string {
	response, err := client.Get(r.url)
	if err != nil {
		return nil
	}
	defer func() { _ = response.Body.Close() }()
	values := make(map[string]string)
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if i := strings.LastIndexByte(lines.Text(), ' '); i > 0 && !strings.HasPrefix(lines.Text(), "#") {
			values[lines.Text()[:i]] = lines.Text()[i+1:]
		}
	}
	return values
}
