//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("hand-over", func() {
	It("B7: on SIGTERM the lock is released, the follower leads, and the last one leaves no key", func(ctx SpecContext) {
		s := newScene(usualLease)
		a := s.startLeader("a", writing)
		b := s.startFollower("b", writing)

		asked, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		const some = 500 * time.Millisecond // far less than what remains of the lease
		Expect(s.await(asked, "b", started).At - asked).To(BeNumerically("<", s.retryBound()+some))
		Expect(s.await(asked, "a", finished).Detail).To(Equal("<nil>"))

		asked, err = b.terminate()
		Expect(err).NotTo(HaveOccurred())
		s.await(asked, "b", finished)
		Expect(s.lock(ctx)).To(BeEmpty())
	})

	// RetryPeriod is 2 s here, so that only the announcement can be that fast.
	It("B7: the follower hears of the release and leads in under 200 ms", func(ctx SpecContext) {
		s := newScene(10 * usualLease)
		a := s.startLeader("a", writing)
		s.startFollower("b", writing)

		asked, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		Expect(s.await(asked, "b", started).At - asked).To(BeNumerically("<", 200*time.Millisecond))
	})

	It("C8: a leader that resigns stays out long enough for another to lead", func(ctx SpecContext) {
		s := newScene(shortLease)
		a := s.startLeader("a", writing)
		b := s.startFollower("b", writing)

		Expect(a.command(commandResign)).To(Succeed())
		Expect(s.await(0, "a", resigned).Detail).To(Equal("<nil>"))
		first := s.await(0, "a", stopped)
		s.await(first.At, "b", started)
		s.await(first.At, "a", attempted) // it stands aside no longer

		Expect(b.command(commandResign)).To(Succeed())
		again := s.await(first.At, "a", started)
		Expect(again.At-first.At).To(BeNumerically(">=", s.retryPeriod()), "back too early")
		Expect(s.await(0, "b", ended).Detail).To(Equal("resigned"))
	})

	It("A4: the next leader waits for work that ignores its end for two leases", func(ctx SpecContext) {
		s := newScene(shortLease)
		a := s.startLeader("a", writing, func(set *settings) { set.Drain = 2 * shortLease })
		s.startFollower("b", writing)

		_, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		end := s.await(0, "a", cancelled)
		back := s.await(end.At, "a", returned)
		next := s.await(end.At, "b", started)

		Expect(back.At-end.At).To(BeNumerically(">=", 2*shortLease), "the fault was not injected")
		Expect(next.At).To(BeNumerically(">", back.At))
		const atLeast = 3 // of six: a renewal each lease/3 for two leases
		renewals := s.history.since(end.At, func(e event) bool { return e.Process == "a" && e.Kind == renewed && e.At < back.At })
		Expect(len(renewals)).To(BeNumerically(">=", atLeast))
	})

	It("a crashed leader is replaced when its lease has run out", func(ctx SpecContext) {
		s := newScene(usualLease)
		a := s.startLeader("a", writing)
		s.startFollower("b", writing)
		s.startFollower("c", writing)

		died := a.kill()
		s.note(recovers, s.lease+s.retryBound()+slack, "after a crash")
		s.await(died, "", started)
	})
})
