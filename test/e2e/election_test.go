//go:build unix

package e2e

import (
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// usualLease is the lease of the cases: RenewDeadline 1 s, RetryPeriod 200 ms. A spec
// that waits for several leases and does not depend on exact times uses shortLease.
const (
	usualLease = 1500 * time.Millisecond
	shortLease = 600 * time.Millisecond
)

var _ = Describe("election", func() {
	It("elects the only candidate", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		env.startLeader("a", writing)
		begun := env.await(0, "a", started)

		Expect(env.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(begun.Fence)))
		Expect(env.await(0, "a", newLeader).Detail).To(Equal("a"))
		Expect(env.await(begun.At, "a", wrote).Accepted).To(BeTrue())
	})

	It("elects exactly one of five, which goes on leading", func(ctx SpecContext) {
		env := newEnvironment(usualLease)
		five := []string{"a", "b", "c", "d", "e"}
		for _, label := range five {
			env.start(label, writing)
		}
		leader := env.await(0, "", started).Process
		for _, label := range five {
			Expect(env.await(0, label, newLeader).Detail).To(Equal(leader), "as seen by %s", label)
		}
		Consistently(func() []event { return env.events(0, "", started) }).WithTimeout(2 * usualLease).Should(HaveLen(1))
		Expect(env.events(0, leader, renewed)).NotTo(BeEmpty())
	})

	It("A9: elects one of two with the same identity, and the other leaves its key alone", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		same := func(s *settings) { s.Identity = "same" }
		leader, follower := env.start("one", writing, same), env.start("two", writing, same)
		if env.await(0, "", started).Process == follower.label {
			leader, follower = follower, leader
		}
		env.await(0, follower.label, newLeader)
		held := env.lock(ctx)
		Consistently(func() []event { return env.events(0, "", started) }).WithTimeout(2 * shortLease).Should(HaveLen(1))

		env.terminate(follower)
		gone := env.await(0, follower.label, finished)

		env.await(gone.At, leader.label, renewed)
		Expect(env.lock(ctx)).To(Equal(held))
		Expect(env.events(0, follower.label, renewed)).To(BeEmpty())
		Expect(env.events(0, leader.label, stopped)).To(BeEmpty())
	})
})
