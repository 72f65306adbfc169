package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// MasterName is the name under which sentinels know their master.
const MasterName = "main"

// sentinelQuorum is how many sentinels have to find the master down.
const sentinelQuorum = 2

// sentinelConfig is what a sentinel starts with, and adds to itself later.
//
// The failover timeout bounds one failover, and twice that is the time until
// sentinels try again when they had split their votes.
const sentinelConfig = `sentinel monitor %[1]s 127.0.0.1 %[2]d %[3]d
sentinel down-after-milliseconds %[1]s 500
sentinel failover-timeout %[1]s 2000
`

// sentinelPeriods are between one look of a sentinel and the next, in
// milliseconds; those of production are up to ten seconds. After a Restart a
// sentinel has those.
//
// Four publish periods are how long a sentinel watches an old master that comes
// back before it makes it a replica: two seconds here, eight by default. Five
// ping periods are how old its news of a replica may be for that to be
// promoted; when something is wrong news come once a second, whatever the info
// period, so that ping periods much shorter than these would find no replica
// good enough.
var sentinelPeriods = []any{
	"info-period", 200,
	"ping-period", 300,
	"ask-period", 100,
	"publish-period", 500,
	"tilt-period", 1000, // of mistrust in its own clock, after a pause
}

// SentinelNodes are the sentinels that watch one master and its replicas.
type SentinelNodes struct {
	// Nodes are the sentinels: servers like others, to be killed, frozen and
	// restarted. They hold no data.
	Nodes []*Server
}

// Sentinels starts n sentinels that watch master under MasterName, and returns
// when each knows the others and the replicas that master has by then, so that
// they could fail it over. They find a server down that has not answered for
// 500 ms, and need two to agree.
//
// They are run by redis-server itself.
func Sentinels(tb testing.TB, master *Server, n int) *SentinelNodes {
	tb.Helper()
	g := &SentinelNodes{}
	for range n {
		g.Nodes = append(g.Nodes, startSentinel(tb, master))
	}
	await(tb, "the sentinels to know all", func(ctx context.Context) error { return g.ready(ctx, master) })
	return g
}

// startSentinel starts one.
func startSentinel(tb testing.TB, master *Server) *Server {
	tb.Helper()
	binary, err := findBinary("redis-server", "/usr/bin/redis-server")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, binary: binary, dir: tb.TempDir()}
	s.sentinel = filepath.Join(s.dir, "sentinel.conf") // which the sentinel rewrites
	text := fmt.Sprintf(sentinelConfig, MasterName, master.Port(), sentinelQuorum)
	if password := master.Options().Password; password != "" {
		text += fmt.Sprintf("sentinel auth-pass %s %s\n", MasterName, password)
	}
	if err := os.WriteFile(s.sentinel, []byte(text), 0o600); err != nil {
		tb.Fatalf("redistest: %v", err)
	}
	tb.Cleanup(s.stop)
	if err := s.startAnywhere(); err != nil {
		tb.Fatalf("redistest: the sentinel did not start: %v\n%s", err, s.Log())
	}
	if err := s.hurry(); err != nil {
		tb.Fatalf("redistest: sentinel: %v", err)
	}
	return s
}

// hurry shortens the periods of a sentinel. One that is older than Redis 7
// does not let them be set and is as good, but slow.
func (s *Server) hurry() error {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := client.Do(ctx, append([]any{"SENTINEL", "DEBUG"}, sentinelPeriods...)...).Err()
	if redis.HasErrorPrefix(err, "ERR Unknown") {
		return nil
	}
	return err
}

// Addrs are the addresses of all sentinels.
func (g *SentinelNodes) Addrs() []string {
	addrs := make([]string, len(g.Nodes))
	for i, node := range g.Nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// Options returns new options for a client that follows the master.
func (g *SentinelNodes) Options() *redis.FailoverOptions {
	return &redis.FailoverOptions{MasterName: MasterName, SentinelAddrs: g.Addrs(), ContextTimeoutEnabled: true}
}

// Client returns a new client that follows the master, which is closed at the
// end of tb. A password of the master is for Options and the test to set.
func (g *SentinelNodes) Client(tb testing.TB) *redis.Client {
	client := redis.NewFailoverClient(g.Options())
	// Closing fails only for a client the test has closed already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Master is the address of the master as host:port, if all sentinels agree on
// it. It is an error if they do not, or if one does not answer.
func (g *SentinelNodes) Master(ctx context.Context) (string, error) {
	var agreed string
	for i, node := range g.Nodes {
		addr, err := node.master(ctx)
		if err != nil {
			return "", fmt.Errorf("redistest: sentinel %s: %w", node.Addr(), err)
		}
		if i > 0 && addr != agreed {
			return "", fmt.Errorf("redistest: sentinels name %s and %s", agreed, addr)
		}
		agreed = addr
	}
	return agreed, nil
}

// master asks one sentinel.
func (s *Server) master(ctx context.Context) (string, error) {
	client := redis.NewSentinelClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	addr, err := client.GetMasterAddrByName(ctx, MasterName).Result()
	return strings.Join(addr, ":"), err
}

// ready returns nil when each sentinel sees the whole of it.
func (g *SentinelNodes) ready(ctx context.Context, master *Server) error {
	info, err := master.info(ctx)
	if err != nil {
		return err
	}
	for _, node := range g.Nodes {
		if err := node.sees(ctx, infoValue(info, "connected_slaves"), len(g.Nodes)-1); err != nil {
			return fmt.Errorf("sentinel %s: %w", node.Addr(), err)
		}
	}
	return nil
}

// sees returns nil when the sentinel finds the master well, and as many
// replicas and other sentinels as there are.
func (s *Server) sees(ctx context.Context, replicas string, others int) error {
	client := redis.NewSentinelClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	master, err := client.Master(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	if master["flags"] != "master" || master["num-slaves"] != replicas || master["num-other-sentinels"] != strconv.Itoa(others) {
		return fmt.Errorf("master is %v", master)
	}
	followers, err := client.Replicas(ctx, MasterName).Result()
	peers, err2 := client.Sentinels(ctx, MasterName).Result()
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	for _, known := range append(followers, peers...) {
		if flags := known["flags"]; flags != "slave" && flags != "sentinel" {
			return fmt.Errorf("%s is %v", known["name"], known)
		}
	}
	return nil
}
