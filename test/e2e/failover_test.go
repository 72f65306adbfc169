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
)

const (
	// soon bounds a hand-over that was announced. It is far shorter than the time that
	// candidates with a longLease wait between two attempts, so nothing but an
	// announcement can be that fast.
	soon      = 300 * time.Millisecond
	longLease = 6 * usualLease // RenewDeadline 6 s, RetryPeriod 1.2 s

	// detection is how long a client takes to notice that another server has replaced
	// the one it talks to, and to dial that.
	detection = redial + slack
)

// failOver records that a server goes away, takes it away with end, and waits until one
// of the replicas has replaced it. It returns that replica, and the time at which it
// was seen to serve as the master.
func (env *environment) failOver(how string, replicas []*redistest.Server, end func()) (*redistest.Server, time.Duration) {
	GinkgoHelper()
	clients := make([]*redis.Client, len(replicas))
	for i, r := range replicas {
		clients[i] = r.Client(GinkgoTB())
	}
	begun := env.record(failing, 0, how)
	end()
	var master *redistest.Server
	Eventually(func(ctx context.Context) *redistest.Server {
		for i, c := range clients {
			if role(ctx, c) == "master" {
				master = replicas[i]
			}
		}
		return master
	}).WithTimeout(waitLimit).WithPolling(5 * time.Millisecond).WithContext(context.Background()).ShouldNot(BeNil())
	at := env.record(promoted, env.lease/3+detection, master.Addr())
	reportDuration("failover after "+how, at-begun)
	return master, at
}

// role is the role of a server, or "" if it does not answer.
func role(ctx context.Context, server *redis.Client) string {
	reply, err := server.Do(ctx, "ROLE").Slice()
	if err != nil {
		return ""
	}
	return fmt.Sprint(reply[0])
}

// reportDuration adds a duration that a spec has measured to its report.
func reportDuration(what string, d time.Duration) {
	AddReportEntry(fmt.Sprintf("figure: %s: %.3f s", what, d.Seconds()), ReportEntryVisibilityFailureOrVerbose)
}

// handOver terminates a leader and expects another candidate to take over as fast as
// only an announcement can make it. It returns the start of the next term.
func (env *environment) handOver(leader *process) event {
	GinkgoHelper()
	asked := env.terminate(leader)
	next := env.await(asked, "", started)
	Expect(next.At - asked).To(BeNumerically("<", soon))
	return next
}

// expectUndisturbed expects that candidates compete after an instant, that the lock is
// still held as before, and that there has been only one term.
func (env *environment) expectUndisturbed(ctx context.Context, after time.Duration, held map[string]string) {
	GinkgoHelper()
	env.awaitAnswers(after, labels...)
	Expect(env.lock(ctx)).To(Equal(held))
	Expect(env.events(0, "", started)).To(HaveLen(1))
}

// awaitReplication waits until a replica has the same lock and counter as the master.
func (env *environment) awaitReplication(replica, master redis.Cmdable) {
	GinkgoHelper()
	contents := func(ctx context.Context, c redis.Cmdable) string {
		fields, err := c.HGetAll(ctx, env.lockKey()).Result()
		counter, err2 := c.Get(ctx, env.fenceKey()).Result()
		return fmt.Sprint(fields, err, counter, err2)
	}
	Eventually(func(ctx context.Context) bool { return contents(ctx, replica) == contents(ctx, master) }).
		WithTimeout(waitLimit).WithContext(context.Background()).Should(BeTrue(), "replication")
}
