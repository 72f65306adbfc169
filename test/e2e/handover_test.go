//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("hand-over", func() {
	It("B7: on SIGTERM the lock is released, the follower leads, and the last candidate leaves no lock behind", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		a := env.startLeader("a", writing)
		b := env.startFollower("b", writing)

		asked := env.terminate(a)
		const some = 500 * time.Millisecond // far less than what remains of the lease
		Expect(env.await(asked, "b", started).At - asked).To(BeNumerically("<", env.retryBound()+some))
		Expect(env.await(asked, "a", finished).Detail).To(Equal("<nil>"))

		env.await(env.terminate(b), "b", finished)
		Expect(env.lock(ctx)).To(BeEmpty())
	})

	// RetryPeriod is 2 s here, so only the announcement can be that fast.
	It("B7: the follower hears of the release and leads in under 200 ms", func(ctx SpecContext) {
		env := newEnvironment(10 * usualLease)
		a := env.startLeader("a", writing)
		env.startFollower("b", writing)

		asked := env.terminate(a)
		Expect(env.await(asked, "b", started).At - asked).To(BeNumerically("<", 200*time.Millisecond))
	})

	It("C8: a leader that resigns stays out long enough for another to lead", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		a := env.startLeader("a", writing)
		b := env.startFollower("b", writing)

		Expect(a.command(commandResign)).To(Succeed())
		Expect(env.await(0, "a", resigned).Detail).To(Equal("<nil>"))
		first := env.await(0, "a", stopped)
		env.await(first.At, "b", started)
		env.await(first.At, "a", attempted) // it competes again

		Expect(b.command(commandResign)).To(Succeed())
		again := env.await(first.At, "a", started)
		Expect(again.At-first.At).To(BeNumerically(">=", env.retryPeriod()), "it led again too early")
		Expect(env.await(0, "b", ended).Detail).To(Equal("resigned"))
	})

	It("A4: the next leader waits for work that ignores the end of its term for two leases", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		a := env.startLeader("a", writing, func(s *settings) { s.Drain = 2 * shortLease })
		env.startFollower("b", writing)

		env.terminate(a)
		end := env.await(0, "a", cancelled)
		back := env.await(end.At, "a", returned)
		next := env.await(end.At, "b", started)

		Expect(back.At-end.At).To(BeNumerically(">=", 2*shortLease), "the fault was not injected")
		Expect(next.At).To(BeNumerically(">", back.At))
		const atLeast = 3 // of six: a renewal each lease/3 for two leases
		Expect(len(env.eventsBetween(end.At, back.At, "a", renewed))).To(BeNumerically(">=", atLeast))
	})

	It("a crashed leader is replaced when its lease has run out", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		a := env.startLeader("a", writing)
		env.startFollower("b", writing)
		env.startFollower("c", writing)

		died := a.kill()
		env.record(recovers, env.lease+env.retryBound()+slack, "after a crash")
		env.await(died, "", started)
	})
})
