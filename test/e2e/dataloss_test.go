//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/redisleader/redisleader/leader"
)

// loses notes that Redis is about to lose the lock under its holder, and has it lose
// it. Until the holder asks again, at most lease/3 later, another can lead beside it:
// that is what the lease assumes not to happen.
func (s *scene) loses(how string, lose func()) time.Duration {
	at := s.note(lostKey, s.lease/3+slack, how)
	lose()
	return at
}

// replaced waits for the term that replaces one whose lock was lost at an instant, and
// returns how the latter saw its end.
func (s *scene) replaced(old event, lost time.Duration) (next, over event) {
	GinkgoHelper()
	next = s.await(lost, "", started)
	over = s.await(lost, old.Process, cancelled)
	Expect(next.Fence).To(BeNumerically(">", old.Fence))
	return next, over
}

var _ = Describe("Redis loses data", func() {
	It("A11: a leader whose key is deleted steps down at its next renewal", func(ctx SpecContext) {
		s := newScene(usualLease)
		s.startLeader("a", writing)
		s.startFollower("b", writing)
		old := s.await(0, "", started)

		lost := s.loses("DEL", func() { Expect(s.client.Del(ctx, s.lockKey()).Result()).To(BeEquivalentTo(1)) })
		_, over := s.replaced(old, lost)

		Expect(over.Detail).To(Equal(leader.ErrLost.Error()))
		Expect(over.At - lost).To(BeNumerically("<", s.lease/3+slack))
	})

	It("A11: a restart without data ends the term and the next has a higher token", func(ctx SpecContext) {
		s := newScene(usualLease)
		s.startLeader("a", writing)
		s.startFollower("b", writing)
		old := s.await(0, "", started)

		lost := s.loses("SHUTDOWN NOSAVE and restart", func() {
			s.server.Shutdown()
			s.server.Restart()
		})
		s.note(recovers, s.lease/3+s.retryBound()+redial+slack, "after a restart without data")
		_, over := s.replaced(old, lost)

		Expect(over.Detail).To(Or(Equal(leader.ErrLost.Error()), Equal(leader.ErrExpired.Error())))
	})

	It("A11: a restart with data needs no election if it is quick", func(ctx SpecContext) {
		s := newScene(2 * usualLease)
		s.startLeader("a", writing)
		s.startFollower("b", writing)
		held := s.lock(ctx)

		s.note(fault, 0, "SAVE, crash and restart")
		Expect(s.client.Save(ctx).Err()).To(Succeed())
		s.server.Kill()
		s.server.Restart()
		back := s.note(recovers, s.lease/3+redial+slack, "after a restart with data")

		s.await(back, "a", renewed)
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, "", started)).To(HaveLen(1))
	})

	It("A12: tokens rise across FLUSHALL and a restart from an older snapshot", func(ctx SpecContext) {
		s := newScene(shortLease)
		s.start("a", writing)
		s.start("b", writing)
		first := s.await(0, "", started)
		Expect(s.client.Save(ctx).Err()).To(Succeed())

		lost := s.loses("FLUSHALL", func() { Expect(s.client.FlushAll(ctx).Err()).To(Succeed()) })
		second, _ := s.replaced(first, lost)

		lost = s.loses("crash and restart from the snapshot", func() {
			s.server.Kill()
			s.server.Restart()
		})
		Expect(s.server.Log()).To(ContainSubstring("DB loaded from disk"), "the fault was not injected")
		s.note(recovers, s.lease+s.retryBound()+redial+slack, "after a restart from a snapshot")
		third, _ := s.replaced(second, lost)
		Expect(third.Fence).To(BeNumerically(">", first.Fence))
	})
})
