package announce_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/internal/redistest"
)

// redisAddr is where the examples find Redis: a server that TestMain has started for
// this run.
var redisAddr string

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(redistest.Suite{Tests: m, Started: func(s *redistest.Server) { redisAddr = s.Addr() }})
}
