//go:build unix

package e2e

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// Ginkgo does not join the goroutines in which it waits for signals and, when run in
// parallel, for messages of other processes.
const (
	ginkgoSignals  = ginkgoInterrupts + ".func2"
	ginkgoMessages = ginkgoInterrupts + ".func1"

	ginkgoInterrupts = "github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts"
)

// TestMain runs the tests, or a candidate if a test has started this process as one.
func TestMain(m *testing.M) {
	if os.Getenv(candidateVariable) != "" {
		os.Exit(runCandidate())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction(ginkgoSignals), goleak.IgnoreTopFunction(ginkgoMessages))
}

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "redisleader, end to end")
}
