// Package leaktest fails a package's tests if they leave goroutines behind.
package leaktest

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests and ends the process. go-redis sleeps for a second after a dial
// that failed, even if the client is closed meanwhile; that goroutine ends by itself
// and does not count.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/redis/go-redis/v9/internal/pool.(*ConnPool).tryDial"))
}
