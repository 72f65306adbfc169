//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/redisleader/redisleader/leader"
)

// loseLock records that Redis is about to lose the lock of a leader, and loses it with
// lose. Until the leader asks Redis again, at most lease/3 later, another candidate can
// lead at the same time. The lease assumes that this does not happen.
func (env *environment) loseLock(how string, lose func()) time.Duration {
	at := env.record(lostKey, env.lease/3+slack, how)
	lose()
	return at
}

// awaitReplacement waits for the term that follows one whose lock was lost at an
// instant. It returns the start of the next term and how the old leader saw its end.
func (env *environment) awaitReplacement(old event, lost time.Duration) (next, over event) {
	GinkgoHelper()
	next = env.await(lost, "", started)
	over = env.await(lost, old.Process, cancelled)
	Expect(next.Fence).To(BeNumerically(">", old.Fence))
	return next, over
}

var _ = Describe("Redis loses data", func() {
	It("A11: a leader whose key is deleted steps down at its next renewal", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		env.startLeader("a", writing)
		env.startFollower("b", writing)
		old := env.await(0, "", started)

		lost := env.loseLock("DEL", func() { Expect(env.client.Del(ctx, env.lockKey()).Result()).To(BeEquivalentTo(1)) })
		_, over := env.awaitReplacement(old, lost)

		Expect(over.Detail).To(Equal(leader.ErrLost.Error()))
		Expect(over.At - lost).To(BeNumerically("<", env.lease/3+slack))
	})

	It("A11: a restart without data ends the term, and the next one has a higher token", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		env.startLeader("a", writing)
		env.startFollower("b", writing)
		old := env.await(0, "", started)

		lost := env.loseLock("SHUTDOWN NOSAVE and restart", func() {
			env.server.Shutdown()
			env.server.Restart()
		})
		env.record(recovers, env.lease/3+env.retryBound()+redial+slack, "after a restart without data")
		_, over := env.awaitReplacement(old, lost)

		Expect(over.Detail).To(Or(Equal(leader.ErrLost.Error()), Equal(leader.ErrExpired.Error())))
	})

	It("A11: a quick restart with data needs no election", func(ctx SpecContext) {
		env := newEnvironment(2 * usualLease)
		env.startLeader("a", writing)
		env.startFollower("b", writing)
		held := env.lock(ctx)

		env.record(fault, 0, "SAVE, crash and restart")
		Expect(env.client.Save(ctx).Err()).To(Succeed())
		env.server.Kill()
		env.server.Restart()
		back := env.record(recovers, env.lease/3+redial+slack, "after a restart with data")

		env.await(back, "a", renewed)
		Expect(env.lock(ctx)).To(Equal(held))
		Expect(env.events(0, "", started)).To(HaveLen(1))
	})

	It("A12: tokens increase across FLUSHALL and a restart from an older snapshot", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		env.start("a", writing)
		env.start("b", writing)
		first := env.await(0, "", started)
		Expect(env.client.Save(ctx).Err()).To(Succeed())

		lost := env.loseLock("FLUSHALL", func() { Expect(env.client.FlushAll(ctx).Err()).To(Succeed()) })
		second, _ := env.awaitReplacement(first, lost)

		lost = env.loseLock("crash and restart from the snapshot", func() {
			env.server.Kill()
			env.server.Restart()
		})
		Expect(env.server.Log()).To(ContainSubstring("DB loaded from disk"), "the fault was not injected")
		env.record(recovers, env.lease+env.retryBound()+redial+slack, "after a restart from a snapshot")
		third, _ := env.awaitReplacement(second, lost)
		Expect(third.Fence).To(BeNumerically(">", first.Fence))
	})
})
