package redislock

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/internal/redistest"
)

// shared is the server of all tests that do it no harm. Each uses keys of its own.
// TestMain sets it.
var shared *redistest.Server

// ServerStarted is called with the address of the shared server. Package redislock_test
// sets it.
var ServerStarted func(addr string)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(redistest.Suite{Tests: m, Started: func(s *redistest.Server) {
		shared = s
		ServerStarted(s.Addr())
	}})
}
