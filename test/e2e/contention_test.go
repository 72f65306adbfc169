//go:build unix

package e2e

import (
	"strconv"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("contention", func() {
	It("B13: fifty waiters in one process each ask no more than once per RetryPeriod", func(ctx SpecContext) {
		const (
			waiters = 50
			period  = 5 * time.Second
		)
		env := newEnvironment(usualLease)
		env.startLeader("a")
		env.start("many", func(s *settings) { s.Electors = waiters })
		env.await(0, "many", attempted)
		for i := 1; i < waiters; i++ {
			env.await(0, "many#"+strconv.Itoa(i), attempted)
		}

		scripts := func() int { return env.calls(ctx, "evalsha") + env.calls(ctx, "eval") }
		begin, before := time.Now(), scripts()
		time.Sleep(period)
		rate := float64(scripts()-before) / time.Since(begin).Seconds()

		full := waiters / env.retryPeriod().Seconds() // jitter makes it up to a sixth slower
		Expect(rate).To(BeNumerically("~", full, full/3))
		Expect(env.events(0, "", started)).To(HaveLen(1))
	})
})
