//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// lateWrites is how many writes hang in the queue of a leader that is careless.
const lateWrites = 20

// queueing has a candidate still send writes when its work has returned.
func queueing(set *settings) { set.LateWrites = lateWrites }

// frozenPast freezes p for three leases, in which somebody else takes over, and lets it
// go on. It returns when.
func (s *scene) frozenPast(p *process) (freezing, thawing time.Duration) {
	GinkgoHelper()
	freezing, err := p.freeze()
	Expect(err).NotTo(HaveOccurred())
	s.note(recovers, s.lease+s.retryBound()+slack, "after a freeze")
	next := s.await(freezing, "", started)
	s.await(next.At, next.Process, wrote) // from now on the resource knows the new token
	time.Sleep(freezing + 3*s.lease - monotonic())
	thawing, err = p.thaw()
	Expect(err).NotTo(HaveOccurred())
	return freezing, thawing
}

// late are the writes of a process that were sent after an instant, and may not be
// accepted.
func (s *scene) late(p *process, after time.Duration) []event {
	return s.history.since(after, func(e event) bool { return e.Process == p.label && e.Kind == wrote && e.Begun > after })
}

var _ = Describe("a leader that was frozen for three leases", func() {
	It("A2: has each late write rejected, stops soon, and leaves the new leader's key alone", func(ctx SpecContext) {
		s := newScene(usualLease)
		a := s.startLeader("a", writing, queueing)
		s.startFollower("b", writing)

		_, thawing := s.frozenPast(a)
		held := s.lock(ctx)

		Expect(s.await(thawing, "a", stopped).At - thawing).To(BeNumerically("<", thawGrace))
		Eventually(func() []event { return s.late(a, thawing) }).WithTimeout(patience).ShouldNot(HaveLen(0))
		Eventually(func() int { return len(s.late(a, thawing)) }).WithTimeout(patience).Should(BeNumerically(">=", lateWrites))
		Expect(s.late(a, thawing)).To(HaveEach(And(HaveField("Accepted", BeFalse()), HaveField("Detail", BeEmpty()))))

		s.await(thawing, "a", attempted) // it has released what it had, and competes again
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, "b", stopped)).To(BeEmpty())
	})

	DescribeTable("A18: acts at most once more if its work looks before each action",
		func(ctx SpecContext, how look) {
			s := newScene(shortLease)
			a := s.startLeader("a", func(set *settings) { set.WriteEvery, set.Look = time.Millisecond, how })
			s.startFollower("b", writing)

			_, thawing := s.frozenPast(a)
			over := s.await(thawing, "a", cancelled)

			late := s.history.since(thawing, func(e event) bool { return e.Process == "a" && e.Kind == wrote && e.At <= over.At })
			Expect(len(late)).To(BeNumerically("<=", 1))
		},
		Entry("at ctx.Err", lookAtErr),
		Entry("at Term.Check", lookAtCheck),
	)
})

var _ = Describe("control", func() {
	It("without fencing the late writes of a frozen leader are accepted, so the fault is real", func(ctx SpecContext) {
		s := newScene(shortLease)
		a := s.startLeader("a", writing, queueing)
		s.startFollower("b", writing)

		_, thawing := s.frozenPast(a)
		Eventually(func() int { return len(s.late(a, thawing)) }).WithTimeout(patience).Should(BeNumerically(">=", lateWrites))

		unfenced, err := s.resource.control(ctx)
		Expect(err).NotTo(HaveOccurred())
		Expect(regressions(unfenced)).NotTo(BeEmpty(), "no late write reached the resource: the fault was not injected")
	})
})
