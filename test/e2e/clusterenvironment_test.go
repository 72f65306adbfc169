//go:build unix

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// clusterMasters is how many masters the Cluster has at first. They are the first of
// its nodes.
const clusterMasters = 3

// clusterEnvironment is an environment whose candidates compete on a Cluster instead of
// its server.
type clusterEnvironment struct {
	*environment
	cluster *redistest.ClusterNodes
	nodes   []*redis.Client // of cluster.Nodes
}

func newClusterEnvironment(lease time.Duration, replicas int) *clusterEnvironment {
	GinkgoHelper()
	env := &clusterEnvironment{environment: newEnvironment(lease), cluster: redistest.Cluster(GinkgoTB(), clusterMasters, replicas)}
	for _, n := range env.cluster.Nodes {
		env.nodes = append(env.nodes, n.Client(GinkgoTB()))
	}
	// Candidates end before these servers go away. environment.finish reports what was
	// wrong with their end.
	DeferCleanup(func() { env.stop() })
	return env
}

// onCluster makes a candidate compete on the Cluster.
func (env *clusterEnvironment) onCluster(s *settings) { s.Cluster = env.cluster.Addrs() }

// readingAnywhere does the same with a client that reads from any node.
func (env *clusterEnvironment) readingAnywhere(s *settings) {
	env.onCluster(s)
	s.ReadOnly = true
}

// lockNode is the index of the node that serves the slot of the lock, whether anybody
// holds the lock or not. The other nodes redirect to it. From then on, the client of
// the environment is that node's.
func (env *clusterEnvironment) lockNode(ctx context.Context) int {
	GinkgoHelper()
	i := slices.IndexFunc(env.nodes, func(n *redis.Client) bool { return n.Exists(ctx, env.lockKey()).Err() == nil })
	Expect(i).To(BeNumerically(">=", 0), "no node serves the slot of the lock")
	env.client = env.nodes[i]
	return i
}

// do sends a command to a node.
func (env *clusterEnvironment) do(ctx context.Context, node int, args ...any) string {
	GinkgoHelper()
	reply, err := env.nodes[node].Do(ctx, args...).Text()
	Expect(err).NotTo(HaveOccurred(), "%v", args)
	return reply
}

// beginMove begins to move the slot of the lock. From then on, the old node redirects
// clients to the new one for keys that it does not have.
func (env *clusterEnvironment) beginMove(ctx context.Context, from, to int) {
	GinkgoHelper()
	env.record(fault, 0, fmt.Sprintf("a slot moves from node %d to node %d", from, to))
	slot := keySlot(ctx, env.nodes[0], env.lockKey())
	env.do(ctx, to, "CLUSTER", "SETSLOT", slot, "IMPORTING", env.do(ctx, from, "CLUSTER", "MYID"))
	env.do(ctx, from, "CLUSTER", "SETSLOT", slot, "MIGRATING", env.do(ctx, to, "CLUSTER", "MYID"))
}

// moveKey moves a key of that slot.
func (env *clusterEnvironment) moveKey(ctx context.Context, from, to int, key string) {
	GinkgoHelper()
	port := env.cluster.Nodes[to].Port()
	Expect(env.do(ctx, from, "MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS", key)).To(Equal("OK"))
}

// endMove ends the move. It tells the new node first, because that one tells the
// others.
func (env *clusterEnvironment) endMove(ctx context.Context, from, to int) {
	GinkgoHelper()
	slot, id := keySlot(ctx, env.nodes[0], env.lockKey()), env.do(ctx, to, "CLUSTER", "MYID")
	for _, node := range []int{to, from} {
		env.do(ctx, node, "CLUSTER", "SETSLOT", slot, "NODE", id)
	}
}

// keySlot asks a node which slot a key is in.
func keySlot(ctx context.Context, node *redis.Client, key string) int64 {
	GinkgoHelper()
	slot, err := node.ClusterKeySlot(ctx, key).Result()
	Expect(err).NotTo(HaveOccurred())
	return slot
}

// leadOnce runs an elector in this process until its first term has ended.
func (env *clusterEnvironment) leadOnce(ctx context.Context, client *redis.ClusterClient, c leader.Config) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	led := false
	c.LeaseDuration = env.lease
	c.Callbacks.OnStartedLeading = func(context.Context, leader.Term) {
		led = true
		cancel()
	}
	Expect(leader.Run(ctx, redislock.New(client), c)).To(Succeed())
	Expect(led).To(BeTrue(), "%q", c.Name)
}

// keysWith returns the keys on all nodes that begin with a prefix, which contains no
// special characters of patterns.
func (env *clusterEnvironment) keysWith(ctx context.Context, prefix string) []string {
	GinkgoHelper()
	var all []string
	for _, n := range env.nodes {
		keys, err := n.Keys(ctx, prefix+"*").Result()
		Expect(err).NotTo(HaveOccurred())
		all = append(all, keys...)
	}
	return all
}
