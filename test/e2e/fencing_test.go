//go:build unix

package e2e

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("fencing", func() {
	It("rejects a write that hung in a queue until another leader had written", func(ctx SpecContext) {
		s := newScene(shortLease)
		a := s.startLeader("a", writing, queueing, func(set *settings) { set.LateAfter = 2 * shortLease })
		s.startFollower("b", writing)

		asked, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		next := s.await(asked, "b", started)
		taken := s.await(next.At, "b", wrote)
		Expect(taken.Accepted).To(BeTrue())

		Eventually(func() int { return len(s.late(a, taken.At)) }).WithTimeout(patience).Should(Equal(lateWrites))
		Expect(s.late(a, taken.At)).To(HaveEach(And(HaveField("Accepted", BeFalse()), HaveField("Detail", BeEmpty()))))

		unfenced, err := s.resource.control(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(regressions(unfenced)).To(HaveLen(lateWrites), "what the control took")
	})
})
