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

// hole cuts off the candidates behind the proxy: their commands and the replies are lost.
func (s *scene) hole() time.Duration {
	s.proxy.Hole()
	return s.note(fault, 0, "hole")
}

// heal ends that.
func (s *scene) heal() time.Duration {
	at := s.note(fault, 0, "heal")
	s.proxy.Heal()
	return at
}

// lost are the script calls that the proxy has seen and not forwarded.
func (s *scene) lost() []faultproxy.Command {
	return slices.DeleteFunc(s.proxy.Commands(), func(c faultproxy.Command) bool { return c.Forwarded || !c.IsScript() })
}

// releases are the commands seen by the proxy that run the script which releases a
// lock, forwarded or not.
func (s *scene) releases() []faultproxy.Command {
	return slices.DeleteFunc(s.proxy.Commands(), func(c faultproxy.Command) bool { return !isRelease(c) })
}

// isRelease knows the script by its source, or the hash of it.
func isRelease(c faultproxy.Command) bool {
	source := releaseSource()
	return c.IsScript() && (c.Args[0] == source || c.Args[0] == redis.NewScript(source).Hash())
}

// releaseSource is the script of redislock that releases a lock.
var releaseSource = sync.OnceValue(func() string {
	source, err := os.ReadFile("../../redislock/release.lua")
	Expect(err).NotTo(HaveOccurred())
	return string(source)
})

var _ = Describe("a leader that is cut off from Redis", func() {
	DescribeTable("A1: knows that it no longer leads before another does",
		func(ctx SpecContext, hanging bool) {
			s := newScene(usualLease)
			s.startLeader("a", writing, s.behindProxy, func(set *settings) { set.HangingReads = hanging })
			s.startFollower("b", writing)

			holed := s.hole()
			s.note(recovers, s.lease+s.retryBound()+slack, "after a hole under the leader")
			next := s.await(holed, "b", started)
			over := s.await(holed, "a", cancelled)

			Expect(over.At).To(BeNumerically("<", next.At))
			Expect(over.Detail).To(Equal(leader.ErrExpired.Error()))
			Expect(s.lost()).NotTo(BeEmpty(), "the fault was not injected")
			if hanging {
				Expect(s.events(holed, "a", unrenewed)).To(BeEmpty(), "the call came back")
			}
		},
		Entry("with a client that heeds contexts", false),
		Entry("with a client whose reads hang", true),
	)

	DescribeTable("A5: sends no release before its work has stopped",
		func(ctx SpecContext, provoke func(*scene, *process)) {
			s := newScene(usualLease)
			a := s.startLeader("a", writing, s.behindProxy)
			begun := s.note(fault, 0, "outage")
			provoke(s, a)
			s.await(begun, "a", cancelled)
			over := s.await(begun, "a", stopped)

			Eventually(s.releases).WithTimeout(patience).ShouldNot(BeEmpty())
			Expect(stamp(s.releases()[0].At)).To(BeNumerically(">", over.At))
			s.heal()
		},
		// Only what a release needs still passes, so that one sent too early would be
		// seen.
		Entry("when its term expires because renewals hang", func(s *scene, _ *process) {
			s.proxy.OnCommand(func(c faultproxy.Command) faultproxy.Action {
				if c.IsScript() && !isRelease(c) {
					return faultproxy.Swallow
				}
				return faultproxy.Pass
			})
		}),
		Entry("when it gets SIGTERM in a hole", func(s *scene, a *process) {
			s.hole()
			_, err := a.terminate()
			Expect(err).NotTo(HaveOccurred())
		}),
	)

	It("A8: leads on a retry when the first acquisition was applied and its reply lost, with one fence step", func(ctx SpecContext) {
		s := newScene(2 * usualLease)
		s.proxy.NoReply(1)
		s.startLeader("a", writing, s.behindProxy)

		begun := s.await(0, "a", started)
		var sent []faultproxy.Command
		for _, c := range s.proxy.Commands() {
			if c.IsScript() && stamp(c.At) < begun.At {
				sent = append(sent, c)
			}
		}
		// EVALSHA, which the server does not know; EVAL, of which the reply is lost;
		// and what finds it applied.
		Expect(len(sent)).To(BeNumerically(">=", 3), "the fault was not injected")
		Expect(begun.At - stamp(sent[0].At)).To(BeNumerically("<", s.lease/2))
		Expect(s.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(begun.Fence)))
		Expect(s.calls(ctx, "set")).To(Equal(1), "how often the counter was written")
	})
})
