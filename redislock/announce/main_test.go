package announce_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/internal/redistest"
)

// redisAddr is where the examples find Redis: a server that TestMain has started for
// this run.
var redisAddr string

func TestMain(m *testing.M) { goleak.VerifyTestMain(suite{m}) }

// suite runs the tests between the start and the end of the server of the examples.
type suite struct{ *testing.M }

func (s suite) Run() int {
	var tb lifetime
	defer tb.end()
	redisAddr = redistest.Start(&tb).Addr()
	return s.M.Run()
}
