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

// MasterName is the name that the sentinels have for their master.
const MasterName = "main"

// sentinelQuorum is how many sentinels must find that the master is down.
const sentinelQuorum = 2

// sentinelConfig is the config that a sentinel starts with, and adds to later.
//
// The failover timeout bounds one failover. If the sentinels split their votes, they try
// again after twice that time.
const sentinelConfig = `sentinel monitor %[1]s 127.0.0.1 %[2]d %[3]d
sentinel down-after-milliseconds %[1]s 500
sentinel failover-timeout %[1]s 2000
`

// sentinelPeriods are the times between the periodic actions of a sentinel, in
// milliseconds. The defaults are up to ten seconds, and a sentinel returns to them after
// a Restart.
//
// When an old master comes back, a sentinel watches it for four publish periods before
// it makes it a replica: two seconds here, eight by default. It promotes a replica only
// if its news of it is no older than five ping periods. While something is wrong it asks
// once a second, whatever the info period is, so with much shorter ping periods it would
// find no replica good enough.
var sentinelPeriods = []any{
	"info-period", 200,
	"ping-period", 300,
	"ask-period", 100,
	"publish-period", 500,
	"tilt-period", 1000, // how long it distrusts its own clock after a pause
}

// SentinelNodes are the sentinels that watch one master and its replicas.
type SentinelNodes struct {
	// Nodes are the sentinels. They can be killed, frozen and restarted like other
	// servers, but hold no data.
	Nodes []*Server
}

// Sentinels starts n sentinels that watch master under MasterName. It returns when each
// of them knows the others and the replicas that master has by then, so that a failover
// is possible. A sentinel finds that a server is down after 500 ms without an answer,
// and two must agree for a failover.
//
// The sentinels run the server's program, unless REDIS_SENTINEL names another.
func Sentinels(tb testing.TB, master *Server, n int) *SentinelNodes {
	tb.Helper()
	g := &SentinelNodes{}
	for range n {
		node, err := launchSentinel(tb.TempDir(), master)
		if err != nil {
			tb.Fatal(err)
		}
		node.belongTo(tb)
		g.Nodes = append(g.Nodes, node)
	}
	mustAwait(tb, "the sentinels to know one another", func(ctx context.Context) error {
		return g.ready(ctx, master)
	})
	return g
}

// launchSentinel starts one sentinel.
func launchSentinel(dir string, master *Server) (*Server, error) {
	binary, err := sentinelBinary()
	if err != nil {
		return nil, err
	}
	s := &Server{binary: binary, dir: dir, sentinel: filepath.Join(dir, "sentinel.conf")}
	if err := os.WriteFile(s.sentinel, []byte(watching(master)), 0o600); err != nil {
		return nil, fmt.Errorf("redistest: %w", err)
	}
	if err := s.startOnFreePort(); err != nil {
		return nil, err
	}
	if err := s.shortenPeriods(); err != nil {
		s.Stop()
		return nil, s.failed("periods", err)
	}
	return s, nil
}

// watching is the config of a sentinel that watches master.
func watching(master *Server) string {
	text := fmt.Sprintf(sentinelConfig, MasterName, master.Port(), sentinelQuorum)
	options := master.adminOptions()
	if options.Username != "" {
		text += fmt.Sprintf("sentinel auth-user %s %s\n", MasterName, options.Username)
	}
	if options.Password != "" {
		text += fmt.Sprintf("sentinel auth-pass %s %s\n", MasterName, options.Password)
	}
	return text
}

// shortenPeriods sets sentinelPeriods. A sentinel older than Redis 7.0 refuses the
// command. It does what others do, only slowly.
func (s *Server) shortenPeriods() error {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := client.Do(ctx, append([]any{"SENTINEL", "DEBUG"}, sentinelPeriods...)...).Err()
	var refused redis.Error
	if errors.As(err, &refused) {
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
	return &redis.FailoverOptions{
		MasterName: MasterName, SentinelAddrs: g.Addrs(), ContextTimeoutEnabled: true,
	}
}

// Client returns a new client that follows the master. It is closed when tb ends. If the
// master has a password, make a client from Options instead.
func (g *SentinelNodes) Client(tb testing.TB) *redis.Client {
	client := redis.NewFailoverClient(g.Options())
	// Close fails only if the test has closed the client already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Master is the address of the master as host:port. It is an error if the sentinels do
// not agree, or if one does not answer.
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

// master is what one sentinel says the master is.
func (s *Server) master(ctx context.Context) (string, error) {
	client := redis.NewSentinelClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	addr, err := client.GetMasterAddrByName(ctx, MasterName).Result()
	return strings.Join(addr, ":"), err
}

// ready returns nil if each sentinel knows the master, its replicas and the other
// sentinels.
func (g *SentinelNodes) ready(ctx context.Context, master *Server) error {
	info, err := master.info(ctx)
	if err != nil {
		return err
	}
	replicas := infoValue(info, "connected_slaves")
	for _, node := range g.Nodes {
		if err := node.knows(ctx, replicas, len(g.Nodes)-1); err != nil {
			return fmt.Errorf("sentinel %s: %w", node.Addr(), err)
		}
	}
	return nil
}

// knows returns nil if the sentinel knows so many replicas and other sentinels, and
// finds nothing wrong with them or with the master.
func (s *Server) knows(ctx context.Context, replicas string, others int) error {
	client := redis.NewSentinelClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	master, err := client.Master(ctx, MasterName).Result()
	if err != nil {
		return err
	}
	if master["flags"] != "master" || master["num-slaves"] != replicas ||
		master["num-other-sentinels"] != strconv.Itoa(others) {
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
