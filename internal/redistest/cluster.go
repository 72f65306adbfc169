package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// slots is the number of hash slots of each Redis Cluster.
const slots = 16384

// ClusterNodes are the servers of one Redis Cluster.
type ClusterNodes struct {
	// Nodes holds the masters in the order of their slots, then the replicas:
	// with m masters, Nodes[m+i] replicates Nodes[i%m] at first.
	Nodes []*Server

	masters int
}

// Cluster starts a Redis Cluster with the given number of masters, the slots
// shared out evenly, and of replicas for each. It returns when every node
// sees the whole of it and replication is up, which takes Redis about three
// seconds. The node timeout is one second.
func Cluster(tb testing.TB, masters, replicasPerMaster int) *ClusterNodes {
	tb.Helper()
	c := &ClusterNodes{masters: masters}
	for range masters * (1 + replicasPerMaster) {
		c.Nodes = append(c.Nodes, Start(tb, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000"))
	}
	c.assemble(tb)
	return c
}

// Addrs are the addresses of all nodes.
func (c *ClusterNodes) Addrs() []string {
	addrs := make([]string, len(c.Nodes))
	for i, node := range c.Nodes {
		addrs[i] = node.Addr()
	}
	return addrs
}

// Client returns a new client of the cluster, which is closed at the end of tb.
func (c *ClusterNodes) Client(tb testing.TB) *redis.ClusterClient {
	options := c.Nodes[0].Options()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs(), Username: options.Username, Password: options.Password, ContextTimeoutEnabled: true,
	})
	// Closing fails only for a client the test has closed already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// assemble makes one cluster of the nodes.
func (c *ClusterNodes) assemble(tb testing.TB) {
	tb.Helper()
	clients := make([]*redis.Client, len(c.Nodes))
	for i, node := range c.Nodes {
		options := node.Options()
		node.users.promote(options)
		clients[i] = redis.NewClient(options)
		defer func() { _ = clients[i].Close() }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	if err := c.assignSlots(ctx, clients); err != nil {
		tb.Fatalf("redistest: assign slots: %v", err)
	}
	if err := c.introduce(ctx, clients); err != nil {
		tb.Fatalf("redistest: introduce nodes: %v", err)
	}
	await(tb, "cluster nodes to meet", func(ctx context.Context) error { return c.met(ctx, clients) })
	if err := c.attachReplicas(ctx, clients); err != nil {
		tb.Fatalf("redistest: attach replicas: %v", err)
	}
	await(tb, "the cluster to agree", func(ctx context.Context) error { return c.agreed(ctx, clients) })
}

// assignSlots gives each master its share, and an epoch of its own: equal ones
// would have to be sorted out by the nodes, one after the other.
func (c *ClusterNodes) assignSlots(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients[:c.masters] {
		first, last := i*slots/c.masters, (i+1)*slots/c.masters-1
		if err := client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err(); err != nil {
			return err
		}
		if err := client.Do(ctx, "CLUSTER", "ADDSLOTSRANGE", first, last).Err(); err != nil {
			return err
		}
	}
	return nil
}

// introduce has each node meet those after it. One node that meets all would
// do in the end, but leaves the others to gossip, which is slower.
func (c *ClusterNodes) introduce(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients {
		for _, other := range c.Nodes[i+1:] {
			if err := client.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", other.port, other.bus).Err(); err != nil {
				return err
			}
		}
	}
	return nil
}

// attachReplicas makes each node after the masters a replica of one of them.
func (c *ClusterNodes) attachReplicas(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients[c.masters:] {
		master, err := clients[i%c.masters].Do(ctx, "CLUSTER", "MYID").Text()
		if err != nil {
			return err
		}
		if err := client.ClusterReplicate(ctx, master).Err(); err != nil {
			return err
		}
	}
	return nil
}

// met returns nil when each node knows all others under their real names.
func (c *ClusterNodes) met(ctx context.Context, clients []*redis.Client) error {
	for _, client := range clients {
		nodes, err := client.ClusterNodes(ctx).Result()
		if err != nil {
			return err
		}
		if strings.Count(nodes, "\n") != len(clients) || strings.Contains(nodes, "handshake") {
			return fmt.Errorf("nodes are\n%s", nodes)
		}
	}
	return nil
}

// agreed returns nil when each node serves and sees every other in its role,
// and each replica follows its master.
func (c *ClusterNodes) agreed(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients {
		if err := c.serves(ctx, client); err != nil {
			return err
		}
		if i < c.masters {
			continue
		}
		if err := c.Nodes[i].linked(ctx); err != nil {
			return err
		}
	}
	return nil
}

// serves returns nil when one node says that the cluster is complete.
func (c *ClusterNodes) serves(ctx context.Context, client *redis.Client) error {
	info, err := client.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	if err := checkInfo(info, "cluster_state:ok", fmt.Sprintf("cluster_size:%d", c.masters)); err != nil {
		return err
	}
	nodes, err := client.ClusterNodes(ctx).Result()
	if err != nil {
		return err
	}
	if strings.Count(nodes, "slave") != len(c.Nodes)-c.masters || strings.Contains(nodes, "fail") {
		return fmt.Errorf("nodes are\n%s", nodes)
	}
	return nil
}
