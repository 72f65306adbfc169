//go:build unix

package e2e

import (
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// lateWriteCount is how many writes remain in the queue of a careless leader.
const lateWriteCount = 20

// writingLate makes a candidate send writes after its work has returned.
func writingLate(s *settings) { s.LateWrites = lateWriteCount }

// lateWrites returns the writes of a process that were sent after an instant.
func (env *environment) lateWrites(p *process, after time.Duration) []event {
	return env.history.since(after, func(e event) bool { return wrote.by(p.label)(e) && e.Begun > after })
}

// awaitLateWrites waits until the whole queue of a process was sent after an instant.
func (env *environment) awaitLateWrites(p *process, after time.Duration) {
	GinkgoHelper()
	Eventually(func() int { return len(env.lateWrites(p, after)) }).
		WithTimeout(waitLimit).Should(BeNumerically(">=", lateWriteCount))
}

// beRejected matches a write that the resource has answered and not accepted.
func beRejected() OmegaMatcher {
	return And(HaveField("Accepted", BeFalse()), HaveField("Detail", BeEmpty()))
}
