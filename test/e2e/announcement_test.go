//go:build unix

package e2e

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock/announce"
)

// listeners is how many connections to the servers listen for announcements. A server
// that does not answer counts as 0.
func (env *environment) listeners(ctx context.Context, servers []*redis.Client) (sum int64) {
	for _, server := range servers {
		for _, n := range server.PubSubNumSub(ctx, announce.Channels(env.lockKey())...).Val() {
			sum += n
		}
	}
	return sum
}

// awaitListeners waits until as many candidates listen for announcements as there are
// followers, no matter on which of the servers.
func (env *environment) awaitListeners(followers int, servers ...*redis.Client) {
	GinkgoHelper()
	after := monotonic()
	Eventually(func(ctx context.Context) int64 { return env.listeners(ctx, servers) }).
		WithTimeout(waitLimit).WithContext(context.Background()).Should(BeEquivalentTo(followers), "listeners")
	reportDuration("subscribed after", monotonic()-after)
}
