package leadertest

import (
	"testing"

	"github.com/redisleader/redisleader/internal/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }
