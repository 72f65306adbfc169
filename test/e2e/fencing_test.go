//go:build unix

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("fencing", func() {
	It("rejects writes that were stuck in a queue until another leader had written", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		a := env.startLeader("a", writing, writingLate, func(s *settings) { s.LateAfter = 2 * shortLease })
		env.startFollower("b", writing)

		next := env.await(env.terminate(a), "b", started)
		first := env.await(next.At, "b", wrote)
		Expect(first.Accepted).To(BeTrue())

		env.awaitLateWrites(a, first.At)
		Expect(env.lateWrites(a, first.At)).To(And(HaveLen(lateWriteCount), HaveEach(beRejected())))

		unfenced, err := env.resource.control(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(regressions(unfenced)).To(HaveLen(lateWriteCount), "late writes that the control accepted")
	})
})
