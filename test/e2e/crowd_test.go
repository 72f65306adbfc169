//go:build unix

package e2e

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("a crowd", func() {
	It("B13: fifty waiters in one process ask no more than once per RetryPeriod each", func(ctx SpecContext) {
		const (
			waiters = 50
			watch   = 5 * time.Second
		)
		s := newScene(usualLease)
		s.startLeader("a")
		s.start("crowd", func(set *settings) { set.Electors = waiters })
		s.await(0, "crowd", attempted)
		for i := 1; i < waiters; i++ {
			s.await(0, "crowd#"+strconv.Itoa(i), attempted)
		}

		scripts := func() int { return s.calls(ctx, "evalsha") + s.calls(ctx, "eval") }
		begin, before := time.Now(), scripts()
		time.Sleep(watch)
		rate := float64(scripts()-before) / time.Since(begin).Seconds()

		full := waiters / s.retryPeriod().Seconds() // without jitter, which takes up to a sixth
		Expect(rate).To(BeNumerically("~", full, full/3))
		Expect(s.events(0, "", started)).To(HaveLen(1))
	})
})
