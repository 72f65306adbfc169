// Package leaktest fails a package's tests if they leave goroutines behind.
package leaktest

import (
	"testing"

	"go.uber.org/goleak"
)

// sleepsAfterDial is a goroutine of go-redis that sleeps for a second after a failed dial,
// even if the client has been closed. It ends by itself, so it is no leak.
const sleepsAfterDial = "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"

// Main runs the tests and ends the process. The exit status is not 0 if a test fails or
// leaves a goroutine behind.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(sleepsAfterDial))
}
