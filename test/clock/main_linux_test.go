package clock

import (
	"testing"

	"github.com/redis/go-redis/v9/logging"

	"github.com/redisleader/redisleader/internal/leaktest"
)

func init() { logging.Disable() } // go-redis writes a line for each dial that fails

func TestMain(m *testing.M) { leaktest.Main(m) }
