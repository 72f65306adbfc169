package redistest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// slots is the number of hash slots of every Redis Cluster.
const slots = 16384

// ClusterNodes are the servers of one Redis Cluster.
type ClusterNodes struct {
	// Nodes holds the masters in the order of their slots, then the replicas. With m
	// masters, Nodes[m+i] replicates Nodes[i%m] at first.
	Nodes []*Server

	masters int
}

// Cluster starts a Redis Cluster with the given number of masters, which share the slots
// evenly, and of replicas for each. It returns when all nodes agree on the cluster and
// replication is up, which takes Redis about three seconds. The node timeout is one
// second.
func Cluster(tb testing.TB, masters, replicasPerMaster int) *ClusterNodes {
	tb.Helper()
	c := &ClusterNodes{masters: masters}
	for range masters * (1 + replicasPerMaster) {
		node := Start(tb, "--cluster-enabled", "yes", "--cluster-node-timeout", "1000")
		c.Nodes = append(c.Nodes, node)
	}
	if err := c.form(); err != nil {
		tb.Fatal(err)
	}
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

// Client returns a new client of the cluster. It is closed when tb ends.
func (c *ClusterNodes) Client(tb testing.TB) *redis.ClusterClient {
	options := c.Nodes[0].Options()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: c.Addrs(), Username: options.Username, Password: options.Password,
		ContextTimeoutEnabled: true,
	})
	// Close fails only if the test has closed the client already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// form makes a cluster of the nodes.
func (c *ClusterNodes) form() error {
	clients := make([]*redis.Client, len(c.Nodes))
	for i, node := range c.Nodes {
		clients[i] = redis.NewClient(node.adminOptions())
		defer func() { _ = clients[i].Close() }()
	}
	ctx, cancel := context.WithTimeout(context.Background(), joinTimeout)
	defer cancel()
	if err := c.assignSlots(ctx, clients); err != nil {
		return fmt.Errorf("redistest: assign slots: %w", err)
	}
	if err := c.meet(ctx, clients); err != nil {
		return fmt.Errorf("redistest: cluster meet: %w", err)
	}
	err := await("the cluster nodes to meet", func(ctx context.Context) error {
		return c.met(ctx, clients)
	})
	if err != nil {
		return err
	}
	if err := c.attachReplicas(ctx, clients); err != nil {
		return fmt.Errorf("redistest: attach replicas: %w", err)
	}
	return await("the cluster nodes to agree", func(ctx context.Context) error {
		return c.agreed(ctx, clients)
	})
}

// assignSlots gives each master its share of the slots and an epoch of its own. If the
// epochs were equal, the nodes would first have to resolve that, one after the other.
func (c *ClusterNodes) assignSlots(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients[:c.masters] {
		err := client.Do(ctx, "CLUSTER", "SET-CONFIG-EPOCH", i+1).Err()
		if err != nil {
			return err
		}
		first, last := i*slots/c.masters, (i+1)*slots/c.masters-1
		if err := client.ClusterAddSlotsRange(ctx, first, last).Err(); err != nil {
			return err
		}
	}
	return nil
}

// meet makes each node meet all those after it. It would be enough for one node to meet
// the others, but then the rest would wait for gossip, which is slower.
func (c *ClusterNodes) meet(ctx context.Context, clients []*redis.Client) error {
	for i, client := range clients {
		for _, other := range c.Nodes[i+1:] {
			err := client.Do(ctx, "CLUSTER", "MEET", "127.0.0.1", other.Port()).Err()
			if err != nil {
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

// met returns nil if each node knows all others by their real names.
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

// agreed returns nil if each node serves and sees every other in its role, and each
// replica follows its master.
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

// serves returns nil if one node says that the cluster is complete.
func (c *ClusterNodes) serves(ctx context.Context, client *redis.Client) error {
	info, err := client.ClusterInfo(ctx).Result()
	if err != nil {
		return err
	}
	err = checkInfo(info, "cluster_state:ok", fmt.Sprintf("cluster_size:%d", c.masters))
	if err != nil {
		return err
	}
	nodes, err := client.ClusterNodes(ctx).Result()
	if err != nil {
		return err
	}
	replicas := len(c.Nodes) - c.masters
	if strings.Count(nodes, "slave") != replicas || strings.Contains(nodes, "fail") {
		return fmt.Errorf("nodes are\n%s", nodes)
	}
	return nil
}
