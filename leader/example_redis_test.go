package leader_test

import (
	"os"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// startRedis starts a Redis server for one example and returns a client of it. The
// function that it returns ends both.
func startRedis() (*redis.Client, func()) {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	server, err := redistest.Launch(dir)
	if err != nil {
		panic(err)
	}
	// Not the user of elections alone, if the tests run with least privileges: the work of
	// an example has keys of its own.
	client := redis.NewClient(&redis.Options{Addr: server.Addr(), ContextTimeoutEnabled: true})
	return client, func() {
		_ = client.Close()
		server.Stop()
		_ = os.RemoveAll(dir)
	}
}
