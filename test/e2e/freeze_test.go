//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// freezePastLease freezes a leader for three leases, while somebody else takes over,
// and returns when it lets it continue.
func (env *environment) freezePastLease(p *process) time.Duration {
	GinkgoHelper()
	freezing, err := p.freeze()
	Expect(err).NotTo(HaveOccurred())
	env.record(recovers, env.lease+env.retryBound()+slack, "after a freeze")
	next := env.await(freezing, "", started)
	env.await(next.At, next.Process, wrote) // from now on the resource knows the new token
	time.Sleep(freezing + 3*env.lease - monotonic())
	thawing, err := p.thaw()
	Expect(err).NotTo(HaveOccurred())
	return thawing
}

var _ = Describe("a leader that was frozen for three leases", func() {
	It("A2: has each late write rejected, stops soon, and leaves the new leader's key alone", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		a := env.startLeader("a", writing, writingLate)
		env.startFollower("b", writing)

		thawing := env.freezePastLease(a)
		held := env.lock(ctx)

		Expect(env.await(thawing, "a", stopped).At - thawing).To(BeNumerically("<", thawGrace))
		env.awaitLateWrites(a, thawing)
		Expect(env.lateWrites(a, thawing)).To(HaveEach(beRejected()))

		env.await(thawing, "a", attempted) // it has tried to release the lock and competes again
		Expect(env.lock(ctx)).To(Equal(held))
		Expect(env.events(0, "b", stopped)).To(BeEmpty())
	})

	DescribeTable("A18: acts at most once more if its work checks before each action",
		func(ctx SpecContext, check endCheck) {
			env := newEnvironment(shortLease)
			a := env.startLeader("a", func(s *settings) { s.WriteEvery, s.EndCheck = time.Millisecond, check })
			env.startFollower("b", writing)

			thawing := env.freezePastLease(a)
			over := env.await(thawing, "a", cancelled)

			Expect(len(env.eventsBetween(thawing, over.At, "a", wrote))).To(BeNumerically("<=", 1))
		},
		Entry("ctx.Err", checkErr),
		Entry("Term.Check", checkTerm),
	)
})

var _ = Describe("control", func() {
	It("without fencing the late writes of a frozen leader are accepted, so the fault is real", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		a := env.startLeader("a", writing, writingLate)
		env.startFollower("b", writing)

		thawing := env.freezePastLease(a)
		env.awaitLateWrites(a, thawing)

		unfenced, err := env.resource.control(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(regressions(unfenced)).NotTo(BeEmpty(), "no late write reached the resource: the fault was not injected")
	})
})
