package leader_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// startRedis starts a Redis server for one example and returns a client of it. The
// function that is returned ends both.
func startRedis() (*redis.Client, func()) {
	tb := &exampleTB{}
	client := redistest.Start(tb).Client(tb)
	return client, tb.end
}

// exampleTB stands in for the testing.TB that an example does not have: what redistest
// uses of it.
type exampleTB struct {
	testing.TB
	cleanups []func()
}

func (*exampleTB) Helper() {}

func (tb *exampleTB) Cleanup(f func()) { tb.cleanups = append(tb.cleanups, f) }

func (tb *exampleTB) TempDir() string {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func (tb *exampleTB) Fatal(args ...any) { tb.end(); panic(fmt.Sprint(args...)) }

func (tb *exampleTB) Fatalf(format string, args ...any) {
	tb.end()
	panic(fmt.Sprintf(format, args...))
}

// end runs the cleanups, the last one first.
func (tb *exampleTB) end() {
	for len(tb.cleanups) > 0 {
		last := len(tb.cleanups) - 1
		cleanup := tb.cleanups[last]
		tb.cleanups = tb.cleanups[:last]
		cleanup()
	}
}
