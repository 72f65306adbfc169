//go:build unix

package e2e

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/redislock"
)

// soon is within which an announcement of a release has had its effect. It is far less
// than longLease lets candidates wait between two looks, so that nothing else can be
// that fast.
const (
	soon      = 300 * time.Millisecond
	longLease = 6 * usualLease // RenewDeadline 6 s, RetryPeriod 1.2 s
)

// detection is within which a client notices, once another server has replaced the one
// it talks to, and has dialled that.
const detection = redial + slack

// failsOver notes that a server is taken away, does it, and waits until another has
// replaced it. The other is one of the replicas given; it is returned along with the
// time at which it was seen to serve as a master.
func (s *scene) failsOver(how string, replicas []*redistest.Server, end func()) (*redistest.Server, time.Duration) {
	GinkgoHelper()
	clients := make([]*redis.Client, len(replicas))
	for i, r := range replicas {
		clients[i] = r.Client(GinkgoTB())
	}
	begun := s.note(failing, 0, how)
	end()
	var master *redistest.Server
	Eventually(func(ctx context.Context) *redistest.Server {
		for i, c := range clients {
			if role(ctx, c) == "master" {
				master = replicas[i]
			}
		}
		return master
	}).WithTimeout(patience).WithPolling(5 * time.Millisecond).WithContext(context.Background()).ShouldNot(BeNil())
	at := s.note(promoted, s.lease/3+detection, master.Addr())
	s.figure("failover after "+how, at-begun)
	return master, at
}

// role is that of a server, "" if it does not say.
func role(ctx context.Context, server *redis.Client) string {
	reply, err := server.Do(ctx, "ROLE").Slice()
	if err != nil {
		return ""
	}
	return fmt.Sprint(reply[0])
}

// figure notes a time that a spec has measured, for its report.
func (s *scene) figure(what string, d time.Duration) {
	AddReportEntry(fmt.Sprintf("figure: %s: %.3f s", what, d.Seconds()), ReportEntryVisibilityFailureOrVerbose)
}

// listeners is how many connections to one server listen for announcements.
func (s *scene) listeners(ctx context.Context, server *redis.Client) int64 {
	GinkgoHelper()
	counts, err := server.PubSubNumSub(ctx, redislock.Channels(s.lockKey())...).Result()
	Expect(err).NotTo(HaveOccurred())
	sum := int64(0)
	for _, n := range counts {
		sum += n
	}
	return sum
}

// overheard waits until as many candidates listen on the server as there are followers.
func (s *scene) overheard(server *redis.Client, followers int) {
	GinkgoHelper()
	after := monotonic()
	Eventually(func(ctx context.Context) int64 { return s.listeners(ctx, server) }).
		WithTimeout(patience).WithContext(context.Background()).Should(BeEquivalentTo(followers), "listeners")
	s.figure("subscribed after", monotonic()-after)
}

// handsOver asks a leader to end and expects that another hears of it. It returns the
// term that follows.
func (s *scene) handsOver(leader *process) event {
	GinkgoHelper()
	asked, err := leader.terminate()
	Expect(err).NotTo(HaveOccurred())
	next := s.await(asked, "", started)
	Expect(next.At - asked).To(BeNumerically("<", soon))
	return next
}

// follows waits until a server holds of the lock what another does.
func (s *scene) follows(replica, master redis.Cmdable) {
	GinkgoHelper()
	contents := func(ctx context.Context, c redis.Cmdable) string {
		fields, err := c.HGetAll(ctx, s.lockKey()).Result()
		counter, err2 := c.Get(ctx, s.lockKey()+":fence").Result()
		return fmt.Sprint(fields, err, counter, err2)
	}
	Eventually(func(ctx context.Context) bool { return contents(ctx, replica) == contents(ctx, master) }).
		WithTimeout(patience).WithContext(context.Background()).Should(BeTrue(), "replication")
}
