//go:build unix

package e2e

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/leader"
)

// hole cuts off the candidates behind the proxy: their commands and the replies are
// lost.
func (env *environment) hole() time.Duration {
	env.proxy.Hole()
	return env.record(fault, 0, "all traffic is lost")
}

// dropped returns the script calls that the proxy has seen and not forwarded.
func (env *environment) dropped() []faultproxy.Command {
	return slices.DeleteFunc(env.proxy.Commands(), func(c faultproxy.Command) bool { return c.Forwarded || !c.IsScript() })
}

// releases returns the calls of the releasing script that the proxy has seen, forwarded
// or not.
func (env *environment) releases() []faultproxy.Command {
	return slices.DeleteFunc(env.proxy.Commands(), func(c faultproxy.Command) bool { return !isRelease(c) })
}

// isRelease recognises the script by its source or by the hash of it.
func isRelease(c faultproxy.Command) bool {
	source := releaseSource()
	return c.IsScript() && (c.Args[0] == source || c.Args[0] == redis.NewScript(source).Hash())
}

// releaseSource is the script with which redislock releases a lock.
var releaseSource = sync.OnceValue(func() string {
	source, err := os.ReadFile("../../redislock/release.lua")
	Expect(err).NotTo(HaveOccurred())
	return string(source)
})

// loseRenewals drops all scripts but releases, so that a release sent too early would
// be seen.
func (env *environment) loseRenewals() {
	env.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
		if c.IsScript() && !isRelease(c) {
			return faultproxy.Swallow
		}
		return faultproxy.Pass
	})
}

var _ = Describe("a leader that is cut off from Redis", func() {
	DescribeTable("A1: knows that it no longer leads before another leads",
		func(ctx SpecContext, hanging bool) {
			env := newEnvironment(usualLease)
			env.startLeader("a", writing, env.behindProxy, func(s *settings) { s.HangingReads = hanging })
			env.startFollower("b", writing)

			cutOff := env.hole()
			env.record(recovers, env.lease+env.retryBound()+slack, "after the leader was cut off")
			next := env.await(cutOff, "b", started)
			over := env.await(cutOff, "a", cancelled)

			Expect(over.At).To(BeNumerically("<", next.At))
			Expect(over.Detail).To(Equal(leader.ErrExpired.Error()))
			Expect(env.dropped()).NotTo(BeEmpty(), "the fault was not injected")
			if hanging {
				Expect(env.events(cutOff, "a", unrenewed)).To(BeEmpty(), "the call came back")
			}
		},
		Entry("with a client that heeds contexts", false),
		Entry("with a client whose reads hang", true),
	)

	DescribeTable("A5: sends no release before its work has stopped",
		func(ctx SpecContext, cutOff func(*environment, *process)) {
			env := newEnvironment(usualLease)
			a := env.startLeader("a", writing, env.behindProxy)
			begun := env.record(fault, 0, "outage")
			cutOff(env, a)
			env.await(begun, "a", cancelled)
			over := env.await(begun, "a", stopped)

			Eventually(env.releases).WithTimeout(waitLimit).ShouldNot(BeEmpty())
			Expect(stamp(env.releases()[0].At)).To(BeNumerically(">", over.At))
			env.record(fault, 0, "the outage is over")
			env.proxy.Heal()
		},
		Entry("when its term expires because renewals hang", func(env *environment, _ *process) { env.loseRenewals() }),
		Entry("when it gets SIGTERM while all its traffic is lost", func(env *environment, a *process) {
			env.hole()
			env.terminate(a)
		}),
	)

	It("A8: leads on a retry if the first acquisition was applied and its reply lost, with one new token", func(ctx SpecContext) {
		env := newEnvironment(2 * usualLease)
		env.proxy.NoReply(1)
		env.startLeader("a", writing, env.behindProxy)

		begun := env.await(0, "a", started)
		sent := slices.DeleteFunc(env.proxy.Commands(), func(c faultproxy.Command) bool {
			return !c.IsScript() || stamp(c.At) >= begun.At
		})
		// EVALSHA, which the server does not know; EVAL, whose reply is lost; and the
		// one that finds it applied.
		Expect(len(sent)).To(BeNumerically(">=", 3), "the fault was not injected")
		Expect(begun.At - stamp(sent[0].At)).To(BeNumerically("<", env.lease/2))
		Expect(env.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(begun.Fence)))
		Expect(env.calls(ctx, "set")).To(Equal(1), "how often the counter was written")
	})
})
