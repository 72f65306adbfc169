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

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

// suite runs the tests between the start and the end of the shared server.
type suite struct{ *testing.M }

func (s suite) Run() int {
	var tb lifetime
	defer tb.end()
	shared = redistest.Start(&tb)
	ServerStarted(shared.Addr())
	return s.M.Run()
}
