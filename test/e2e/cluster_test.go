//go:build unix

package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// clusterMasters is how many masters the Cluster has at first, the first of its nodes.
const clusterMasters = 3

// clusterScene is a scene whose candidates compete on a Cluster. The scene's own server
// has no part in it.
type clusterScene struct {
	*scene
	cluster *redistest.ClusterNodes
	nodes   []*redis.Client // of cluster.Nodes
}

func newClusterScene(lease time.Duration, replicas int) *clusterScene {
	GinkgoHelper()
	s := &clusterScene{scene: newScene(lease), cluster: redistest.Cluster(GinkgoTB(), clusterMasters, replicas)}
	for _, n := range s.cluster.Nodes {
		s.nodes = append(s.nodes, n.Client(GinkgoTB()))
	}
	DeferCleanup(func() { s.stop() }) // before these servers go; what went wrong the scene will report
	return s
}

// spread has a candidate compete on the Cluster.
func (s *clusterScene) spread(set *settings) { set.Cluster = s.cluster.Addrs() }

// wandering does so with a client that reads from any node.
func (s *clusterScene) wandering(set *settings) {
	s.spread(set)
	set.ReadOnly = true
}

// owner is the index of the node that the lock is on, whether somebody holds it or not:
// others name that one instead.
func (s *clusterScene) owner(ctx context.Context) int {
	GinkgoHelper()
	i := slices.IndexFunc(s.nodes, func(n *redis.Client) bool { return n.Exists(ctx, s.lockKey()).Err() == nil })
	Expect(i).To(BeNumerically(">=", 0), "nobody serves the slot of the lock")
	s.client = s.nodes[i]
	return i
}

// overheard waits until as many candidates listen as there are followers, on whatever
// nodes.
func (s *clusterScene) overheard(followers int) {
	GinkgoHelper()
	after := monotonic()
	Eventually(func(ctx context.Context) (sum int64) {
		for _, n := range s.nodes {
			for _, listeners := range n.PubSubNumSub(ctx, redislock.Channels(s.lockKey())...).Val() { // none of one that is down
				sum += listeners
			}
		}
		return sum
	}).WithTimeout(patience).WithContext(context.Background()).Should(BeEquivalentTo(followers), "listeners")
	s.figure("subscribed after", monotonic()-after)
}

// do sends a command to a node.
func (s *clusterScene) do(ctx context.Context, node int, args ...any) string {
	GinkgoHelper()
	reply, err := s.nodes[node].Do(ctx, args...).Text()
	Expect(err).NotTo(HaveOccurred(), "%v", args)
	return reply
}

// open begins to move the slot of the lock: from asks of what it lacks to be looked for
// at to.
func (s *clusterScene) open(ctx context.Context, from, to int) {
	GinkgoHelper()
	s.note(fault, 0, fmt.Sprintf("a slot moves from node %d to node %d", from, to))
	s.do(ctx, to, "CLUSTER", "SETSLOT", s.slot(ctx), "IMPORTING", s.do(ctx, from, "CLUSTER", "MYID"))
	s.do(ctx, from, "CLUSTER", "SETSLOT", s.slot(ctx), "MIGRATING", s.do(ctx, to, "CLUSTER", "MYID"))
}

// migrate moves a key.
func (s *clusterScene) migrate(ctx context.Context, from, to int, key string) {
	GinkgoHelper()
	port := s.cluster.Nodes[to].Port()
	Expect(s.do(ctx, from, "MIGRATE", "127.0.0.1", port, "", 0, 5000, "KEYS", key)).To(Equal("OK"))
}

// shut ends the move. The new owner learns of it first, as it is the one that tells the
// others.
func (s *clusterScene) shut(ctx context.Context, from, to int) {
	GinkgoHelper()
	id := s.do(ctx, to, "CLUSTER", "MYID")
	for _, node := range []int{to, from} {
		s.do(ctx, node, "CLUSTER", "SETSLOT", s.slot(ctx), "NODE", id)
	}
}

func (s *clusterScene) slot(ctx context.Context) int64 {
	GinkgoHelper()
	return keySlot(ctx, s.nodes[0], s.lockKey())
}

// keySlot asks a node which slot a key is in.
func keySlot(ctx context.Context, node *redis.Client, key string) int64 {
	GinkgoHelper()
	slot, err := node.ClusterKeySlot(ctx, key).Result()
	Expect(err).NotTo(HaveOccurred())
	return slot
}

var _ = Describe("Cluster", func() {
	It("elects among clients that read from any node, and the hand-over is announced", func(ctx SpecContext) {
		s := newClusterScene(longLease, 1)
		a := s.startLeader("a", writing, s.wandering)
		for _, label := range []string{"b", "c"} {
			s.startFollower(label, writing, s.wandering)
		}
		s.owner(ctx)
		Expect(s.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(s.await(0, "a", started).Fence)))
		s.await(0, "a", renewed)

		s.overheard(2)
		next := s.handsOver(a)
		Expect(s.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(next.Fence)))
	})

	It("a term survives the crash of the node with its lock, and the hand-over is announced afterwards", func(ctx SpecContext) {
		s := newClusterScene(10*usualLease, 1) // RenewDeadline 10 s
		a := s.startLeader("a", writing, s.spread)
		s.startFollower("b", writing, s.wandering)
		s.startFollower("c", writing, s.spread)
		lost := s.owner(ctx)
		replica := lost + clusterMasters
		held := s.lock(ctx)
		reader := s.nodes[replica].Conn()
		Expect(reader.ReadOnly(ctx).Err()).To(Succeed())
		s.follows(reader, s.client)
		Expect(reader.Close()).To(Succeed())

		_, over := s.failsOver("SIGKILL of a node", s.cluster.Nodes[replica:replica+1], s.cluster.Nodes[lost].Kill)
		s.figure("renewed after", s.await(over, "a", renewed).At-over)
		for _, label := range labels {
			s.contends(over, label)
		}
		Expect(s.owner(ctx)).To(Equal(replica))
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, "", started)).To(HaveLen(1))

		s.overheard(2)
		s.handsOver(a)
	})

	It("a term survives moves of its slot back and forth, and an election waits for the end of one", func(ctx SpecContext) {
		s := newClusterScene(usualLease, 0)
		a := s.startLeader("a", writing, s.spread)
		s.startFollower("b", writing, s.spread)
		s.startFollower("c", writing, s.wandering)
		from := s.owner(ctx)
		to := (from + 1) % clusterMasters
		held := s.lock(ctx)
		step := func(do func()) {
			do()
			s.await(monotonic(), "a", renewed)
		}

		for range 2 {
			step(func() { s.open(ctx, from, to) })
			step(func() { s.migrate(ctx, from, to, s.lockKey()) })
			Expect(s.nodes[from].Exists(ctx, s.lockKey()).Err()).To(MatchError(HavePrefix("ASK")), "the fault was not injected")
			step(func() { s.migrate(ctx, from, to, s.lockKey()+":fence") })
			step(func() { s.shut(ctx, from, to) })
			Expect(s.owner(ctx)).To(Equal(to))
			Expect(s.lock(ctx)).To(Equal(held))
			from, to = to, from
		}
		over := monotonic()
		for _, label := range labels {
			s.contends(over, label)
		}
		Expect(s.events(0, "", started)).To(HaveLen(1))

		// A script with two keys, of which the lock is not there, is refused for as
		// long as the slot moves.
		s.open(ctx, from, to)
		s.migrate(ctx, from, to, s.lockKey())
		asked, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		gone := s.await(asked, "a", finished)
		time.Sleep(s.retryPeriod())
		Expect(s.events(gone.At, "", started)).To(BeEmpty(), "elected in the midst of a move")
		Expect(s.events(gone.At, "", logged)).To(ContainElement(HaveField("Detail", ContainSubstring("TRYAGAIN"))))
		s.migrate(ctx, from, to, s.lockKey()+":fence")
		s.shut(ctx, from, to)
		over = s.note(recovers, s.retryBound()+slack, "after the move of a slot")
		s.await(over, "", started)
	})

	It("keeps the keys of an election in one slot, whatever braces its name has", func(ctx SpecContext) {
		s := newClusterScene(usualLease, 0)
		client := s.cluster.Client(GinkgoTB())
		for _, name := range []string{"a{b}c", "}x", "{}", "{", "}", "}{", "{{x}}", "{a}{b}", "%7B", "%", "a b\n", "\x00", "größe", strings.Repeat("{", 100)} {
			prefix := s.prefix + fmt.Sprintf("%x", name) + ":"
			s.leadOnce(ctx, client, leader.Config{Name: name, KeyPrefix: prefix})
			keys := s.keysWith(ctx, prefix)
			Expect(keys).To(HaveLen(1), "what %q left: its counter", name)
			lock, isCounter := strings.CutSuffix(keys[0], ":fence")
			Expect(isCounter).To(BeTrue(), keys[0])
			slot := keySlot(ctx, s.nodes[0], keys[0])
			Expect(keySlot(ctx, s.nodes[0], lock)).To(Equal(slot), "the lock of %q", name)
			for _, channel := range redislock.Channels(lock) {
				Expect(keySlot(ctx, s.nodes[0], channel)).To(Equal(slot), "a channel of %q", name)
			}
		}
		_, err := leader.New(redislock.New(client), leader.Config{Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {}}})
		Expect(err).To(MatchError(ContainSubstring("Name")))
	})

	It("elects and hands over under a name full of braces", func(ctx SpecContext) {
		s := newClusterScene(longLease, 0)
		nasty := func(set *settings) {
			s.spread(set)
			set.Name = "}{a{b}c}{"
		}
		a := s.startLeader("a", writing, nasty)
		s.startFollower("b", writing, nasty)
		s.handsOver(a)
	})
})

// leadOnce runs an elector in this process until its first term has ended.
func (s *clusterScene) leadOnce(ctx context.Context, client *redis.ClusterClient, c leader.Config) {
	GinkgoHelper()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	led := false
	c.LeaseDuration = s.lease
	c.Callbacks.OnStartedLeading = func(context.Context, leader.Term) {
		led = true
		cancel()
	}
	Expect(leader.Run(ctx, redislock.New(client), c)).To(Succeed())
	Expect(led).To(BeTrue(), "%q", c.Name)
}

// keysWith are the keys with a prefix, which has no special characters, on all nodes.
func (s *clusterScene) keysWith(ctx context.Context, prefix string) []string {
	GinkgoHelper()
	var all []string
	for _, n := range s.nodes {
		keys, err := n.Keys(ctx, prefix+"*").Result()
		Expect(err).NotTo(HaveOccurred())
		all = append(all, keys...)
	}
	return all
}
