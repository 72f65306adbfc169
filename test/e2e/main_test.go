//go:build unix

package e2e

import (
	"os"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.uber.org/goleak"
)

// Ginkgo does not join the goroutines in which it waits for signals and, run in
// parallel, for news of other processes.
const (
	ginkgoSignals = ginkgoInterrupts + ".func2"
	ginkgoNews    = ginkgoInterrupts + ".func1"

	ginkgoInterrupts = "github.com/onsi/ginkgo/v2/internal/interrupt_handler.(*InterruptHandler).registerForInterrupts"
)

// TestMain runs the tests, or a candidate where a test started one.
func TestMain(m *testing.M) {
	if os.Getenv(candidateVariable) != "" {
		os.Exit(candidateMain())
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction(ginkgoSignals), goleak.IgnoreTopFunction(ginkgoNews))
}

func TestEndToEnd(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "redisleader, end to end")
}
