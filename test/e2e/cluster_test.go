//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
	"github.com/redisleader/redisleader/redislock/announce"
)

// awkwardNames are names of elections that put a hash tag in the key at risk.
var awkwardNames = []string{
	"a{b}c", "}x", "{}", "{", "}", "}{", "{{x}}", "{a}{b}", "%7B", "%", "a b\n", "\x00", "größe", strings.Repeat("{", 100),
}

var _ = Describe("Cluster", func() {
	It("elects one of several candidates that read from any node, and announces the hand-over", func(ctx SpecContext) {
		env := newClusterEnvironment(longLease, 1)
		a := env.startLeader("a", writing, env.readingAnywhere)
		env.startFollower("b", writing, env.readingAnywhere)
		env.startFollower("c", writing, env.readingAnywhere)
		env.lockNode(ctx)
		Expect(env.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(env.await(0, "a", started).Fence)))
		env.await(0, "a", renewed)

		env.awaitListeners(2, env.nodes...)
		next := env.handOver(a)
		Expect(env.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(next.Fence)))
	})

	It("a term survives the crash of the node with its lock, and the hand-over is announced afterwards", func(ctx SpecContext) {
		env := newClusterEnvironment(10*usualLease, 1) // RenewDeadline 10 s
		a := env.startLeader("a", writing, env.onCluster)
		env.startFollower("b", writing, env.readingAnywhere)
		env.startFollower("c", writing, env.onCluster)
		lost := env.lockNode(ctx)
		replica := lost + clusterMasters
		held := env.lock(ctx)
		reader := env.nodes[replica].Conn()
		Expect(reader.ReadOnly(ctx).Err()).To(Succeed())
		env.awaitReplication(reader, env.client)
		Expect(reader.Close()).To(Succeed())

		_, over := env.failOver("SIGKILL of a node", env.cluster.Nodes[replica:replica+1], env.cluster.Nodes[lost].Kill)
		reportDuration("renewed after", env.await(over, "a", renewed).At-over)
		Expect(env.lockNode(ctx)).To(Equal(replica))
		env.expectUndisturbed(ctx, over, held)

		env.awaitListeners(2, env.nodes...)
		env.handOver(a)
	})

	It("a term survives moves of its slot back and forth, and an election waits for the end of a move", func(ctx SpecContext) {
		env := newClusterEnvironment(usualLease, 0)
		a := env.startLeader("a", writing, env.onCluster)
		env.startFollower("b", writing, env.onCluster)
		env.startFollower("c", writing, env.readingAnywhere)
		from := env.lockNode(ctx)
		to := (from + 1) % clusterMasters
		held := env.lock(ctx)
		awaitRenewal := func() { env.await(monotonic(), "a", renewed) }

		for range 2 {
			env.beginMove(ctx, from, to)
			awaitRenewal()
			env.moveKey(ctx, from, to, env.lockKey())
			awaitRenewal()
			Expect(env.nodes[from].Exists(ctx, env.lockKey()).Err()).To(MatchError(HavePrefix("ASK")), "the fault was not injected")
			env.moveKey(ctx, from, to, env.fenceKey())
			awaitRenewal()
			env.endMove(ctx, from, to)
			awaitRenewal()
			Expect(env.lockNode(ctx)).To(Equal(to))
			Expect(env.lock(ctx)).To(Equal(held))
			from, to = to, from
		}
		env.expectUndisturbed(ctx, monotonic(), held)

		// While a slot moves, the node that has the counter but no longer the lock
		// refuses a script that needs both.
		env.beginMove(ctx, from, to)
		env.moveKey(ctx, from, to, env.lockKey())
		gone := env.await(env.terminate(a), "a", finished)
		time.Sleep(env.retryPeriod())
		Expect(env.events(gone.At, "", started)).To(BeEmpty(), "elected during a move")
		Expect(env.events(gone.At, "", logged)).To(ContainElement(HaveField("Detail", ContainSubstring("TRYAGAIN"))))
		env.moveKey(ctx, from, to, env.fenceKey())
		env.endMove(ctx, from, to)
		over := env.record(recovers, env.retryBound()+slack, "after the move of a slot")
		env.await(over, "", started)
	})

	It("keeps the keys of an election in one slot, whatever braces its name contains", func(ctx SpecContext) {
		env := newClusterEnvironment(usualLease, 0)
		client := env.cluster.Client(GinkgoTB())
		for _, name := range awkwardNames {
			prefix := env.prefix + fmt.Sprintf("%x", name) + ":"
			env.leadOnce(ctx, client, leader.Config{Name: name, KeyPrefix: prefix})
			lock, counter := leader.LockKey(prefix, name), leader.FenceKey(prefix, name)
			Expect(env.keysWith(ctx, prefix)).To(ConsistOf(counter), "keys that %q has left behind", name)
			slot := keySlot(ctx, env.nodes[0], counter)
			Expect(keySlot(ctx, env.nodes[0], lock)).To(Equal(slot), "the lock of %q", name)
			for _, channel := range announce.Channels(lock) {
				Expect(keySlot(ctx, env.nodes[0], channel)).To(Equal(slot), "a channel of %q", name)
			}
		}
		ignore := func(context.Context, leader.Term) {}
		_, err := leader.New(redislock.New(client), leader.Config{Callbacks: leader.Callbacks{OnStartedLeading: ignore}})
		Expect(err).To(MatchError(ContainSubstring("Name")))
	})

	It("elects and hands over under a name full of braces", func(ctx SpecContext) {
		env := newClusterEnvironment(longLease, 0)
		awkward := func(s *settings) {
			env.onCluster(s)
			s.Name = "}{a{b}c}{"
		}
		a := env.startLeader("a", writing, awkward)
		env.startFollower("b", writing, awkward)
		env.handOver(a)
	})
})
