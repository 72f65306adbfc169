//go:build unix

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// usualLease is the lease of the cases: RenewDeadline 1 s, RetryPeriod 200 ms. Where a
// spec has to wait for several leases and is not about exact times, it uses shortLease.
const (
	usualLease = 1500 * time.Millisecond
	shortLease = 600 * time.Millisecond
)

var _ = Describe("election", func() {
	It("elects a candidate that is alone", func(ctx SpecContext) {
		s := newScene(usualLease)
		s.startLeader("a", writing)
		begun := s.await(0, "a", started)

		Expect(s.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(begun.Fence)))
		Expect(s.await(0, "a", newLeader).Detail).To(Equal("a"))
		Expect(s.await(begun.At, "a", wrote).Accepted).To(BeTrue())
	})

	It("elects exactly one of five, for as long as it is well", func(ctx SpecContext) {
		s := newScene(usualLease)
		labels := []string{"a", "b", "c", "d", "e"}
		for _, label := range labels {
			s.start(label, writing)
		}
		leader := s.await(0, "", started).Process
		for _, label := range labels {
			Expect(s.await(0, label, newLeader).Detail).To(Equal(leader), "as seen by %s", label)
		}
		Consistently(func() []event { return s.events(0, "", started) }).WithTimeout(2 * usualLease).Should(HaveLen(1))
		Expect(s.events(0, leader, renewed)).NotTo(BeEmpty())
	})

	It("A9: elects one of two with the same identity, and the other leaves its key alone", func(ctx SpecContext) {
		s := newScene(shortLease)
		same := func(set *settings) { set.Identity = "same" }
		one, two := s.start("one", writing, same), s.start("two", writing, same)
		leader, follower := one, two
		if s.await(0, "", started).Process == two.label {
			leader, follower = two, one
		}
		s.await(0, follower.label, newLeader)
		held := s.lock(ctx)
		Consistently(func() []event { return s.events(0, "", started) }).WithTimeout(2 * shortLease).Should(HaveLen(1))

		_, err := follower.terminate()
		Expect(err).NotTo(HaveOccurred())
		gone := s.await(0, follower.label, finished)

		s.await(gone.At, leader.label, renewed)
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, follower.label, renewed)).To(BeEmpty())
		Expect(s.events(0, leader.label, stopped)).To(BeEmpty())
	})
})
