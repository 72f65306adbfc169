//go:build unix

package e2e

import (
	"context"
	"fmt"
	"slices"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/redisleader/redisleader/leader"
)

var _ = Describe("Sentinel", func() {
	It("a term survives the crash of the master if its lock does, and the hand-over is announced on the new master", func(ctx SpecContext) {
		env := newSentinelEnvironment(longLease)
		a := env.startLeaderAndFollowers()
		env.awaitReplicas()
		held := env.lock(ctx)

		over := env.loseMaster("SIGKILL of the master", env.server.Kill)
		reportDuration("renewed after", env.await(over, "a", renewed).At-over)
		env.expectUndisturbed(ctx, over, held)

		env.awaitListeners(2, env.client)
		next := env.handOver(a)
		Expect(env.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(next.Fence)))
	})

	It("a frozen master comes back and accepts writes for a while, which changes nothing", func(ctx SpecContext) {
		env := newSentinelEnvironment(longLease)
		a := env.startLeaderAndFollowers()
		env.awaitReplicas()
		old, oldClient := env.server, env.client
		held := env.lock(ctx)

		over := env.loseMaster("SIGSTOP of the master", old.Freeze)
		env.await(over, "a", renewed)
		env.record(fault, 0, "SIGCONT of the old master")
		old.Thaw()
		back := monotonic()
		const foreign = "foreign"
		Expect(oldClient.HSet(ctx, env.lockKey(), "token", foreign).Err()).To(Succeed(), "a write to the old master")
		Expect(oldClient.Del(ctx, env.fenceKey()).Result()).To(BeEquivalentTo(1), "another one")
		Expect(oldClient.HGet(ctx, env.lockKey(), "token").Result()).To(Equal(foreign))
		Expect(role(ctx, oldClient)).To(Equal("master"), "the fault was not injected")

		Eventually(func() string { return role(ctx, oldClient) }).WithTimeout(waitLimit).Should(Equal("slave"))
		reportDuration("the old master accepted writes for", monotonic()-back)
		env.awaitReplication(oldClient, env.client)
		demoted := monotonic()
		env.await(demoted, "a", renewed)
		env.expectUndisturbed(ctx, demoted, held)

		env.awaitListeners(2, env.client)
		env.handOver(a)
	})

	It("a leader that is terminated when the master and all sentinels are gone does not wait for them", func(ctx SpecContext) {
		env := newSentinelEnvironment(usualLease)
		a := env.startLeader("a", writing, env.viaSentinels)
		env.record(fault, 0, "the master and all sentinels are gone")
		for _, node := range append(env.sentinels.Nodes, env.server) {
			node.Kill()
		}

		asked := env.terminate(a)
		over := env.await(asked, "a", finished)
		reportDuration("ended after", over.At-asked)
		// Three attempts to release the lock take lease/3 each.
		Expect(over.At - asked).To(BeNumerically("<", env.lease+slack))
	})

	DescribeTable("A13: a term that the promoted replica does not know of ends at its next renewal, and the next term has a higher token",
		func(ctx SpecContext, lease time.Duration, endTerm func(*sentinelEnvironment, *process)) {
			env := newSentinelEnvironment(lease)
			a := env.startLeader("a", writing, env.viaSentinels)
			env.awaitReplicas()
			endTerm(env, a)
			env.startLeader("b", writing, env.viaSentinels)
			for _, label := range []string{"c", "d"} {
				env.startFollower(label, writing, env.viaSentinels)
			}
			last := env.await(0, "b", started)
			env.await(last.At, "b", wrote)
			for _, c := range env.replicaClients {
				Expect(c.HGet(ctx, env.lockKey(), "fence").Val()).NotTo(Equal(fmt.Sprint(last.Fence)), "the fault was not injected")
				Expect(c.Get(ctx, env.fenceKey()).Val()).To(Equal(fmt.Sprint(env.await(0, "a", started).Fence)))
			}

			over := env.loseMaster("SIGKILL of the master", env.server.Kill)
			env.healReplication(ctx)
			env.record(recovers, env.lease+env.retryBound()+detection, "after a failover that lost the term")

			end := env.await(last.At, "b", stopped)
			next := env.await(last.At, "", started)
			reportDuration("the old term went on for", end.At-over)
			reportDuration("overlap with the next term", end.At-next.At)
			Expect(end.At - over).To(BeNumerically("<", env.lease/3+detection))
			Expect(env.await(last.At, "b", cancelled).Detail).To(Or(Equal(leader.ErrLost.Error()), Equal(leader.ErrExpired.Error())))
			Expect(next.Fence).To(BeNumerically(">", last.Fence))
			env.awaitAnswers(max(over, next.At), "b", "c", "d")

			env.awaitListeners(2, env.client)
			i := slices.IndexFunc(env.processes, func(p *process) bool { return p.label == next.Process })
			env.handOver(env.processes[i])
		},
		Entry("the replica has no leader", longLease, func(env *sentinelEnvironment, a *process) {
			env.terminate(a)
			env.await(0, "a", finished)
			env.awaitReplicas()
			env.cutReplication(context.Background())
		}),
		Entry("the replica has a leader that is gone", 3*usualLease, func(env *sentinelEnvironment, a *process) {
			env.cutReplication(context.Background())
			env.terminate(a)
			env.await(0, "a", finished)
		}),
	)
})
