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
	"github.com/redisleader/redisleader/leader"
)

// watchedScene is a scene whose server has two replicas, and three sentinels that put
// one of them in its place.
type watchedScene struct {
	*scene
	replicas  []*redistest.Server
	followers []*redis.Client // of the replicas
	sentinels *redistest.SentinelNodes
}

func newWatchedScene(lease time.Duration) *watchedScene {
	GinkgoHelper()
	s := &watchedScene{scene: newScene(lease)}
	for range 2 {
		r := redistest.Replica(GinkgoTB(), s.server)
		s.replicas, s.followers = append(s.replicas, r), append(s.followers, r.Client(GinkgoTB()))
	}
	s.sentinels = redistest.Sentinels(GinkgoTB(), s.server, 3)
	DeferCleanup(s.leave)
	return s
}

// leave ends the candidates before the servers that it started go. What was wrong with
// their end the scene reports.
func (s *watchedScene) leave() {
	s.stop()
	for _, node := range s.sentinels.Nodes {
		AddReportEntry("log of a sentinel", ReportEntryVisibilityFailureOrVerbose, node.Log())
	}
}

// watched has a candidate ask the sentinels where the master is.
func (s *watchedScene) watched(set *settings) { set.Sentinels = s.sentinels.Addrs() }

// replicated waits until both replicas know of the lock what the master does.
func (s *watchedScene) replicated() {
	GinkgoHelper()
	for _, f := range s.followers {
		s.follows(f, s.client)
	}
}

// loseMaster has the sentinels replace the master, and returns when they have. The
// scene's server is then the new one.
func (s *watchedScene) loseMaster(how string, end func()) time.Duration {
	GinkgoHelper()
	master, at := s.failsOver(how, s.replicas, end)
	s.server, s.client = master, master.Client(GinkgoTB())
	return at
}

// cutReplication cuts the links of both replicas for good: they are to show a password
// that the master does not know. They keep their address of the master, which sentinels
// would set right, and have nothing in their sockets, as a stopped one has.
func (s *watchedScene) cutReplication(ctx context.Context) {
	GinkgoHelper()
	s.note(fault, 0, "replication is cut")
	for _, f := range s.followers {
		Expect(f.ConfigSet(ctx, "masterauth", "wrong").Err()).To(Succeed())
	}
	Expect(s.client.ClientKillByFilter(ctx, "TYPE", "replica").Result()).To(BeEquivalentTo(2), "links that were cut")
	for _, f := range s.followers {
		Eventually(func() string { return f.Info(ctx, "replication").Val() }).
			WithTimeout(patience).Should(ContainSubstring("master_link_status:down"))
	}
}

// healReplication takes that back.
func (s *watchedScene) healReplication(ctx context.Context) {
	GinkgoHelper()
	for _, f := range s.followers {
		Expect(f.ConfigSet(ctx, "masterauth", "").Err()).To(Succeed())
	}
}

var _ = Describe("Sentinel", func() {
	It("a term survives the crash of the master if its lock does, and the hand-over is announced on the new one", func(ctx SpecContext) {
		s := newWatchedScene(longLease)
		a := s.startLeader("a", writing, s.watched)
		for _, label := range []string{"b", "c"} {
			s.startFollower(label, writing, s.watched)
		}
		s.replicated()
		held := s.lock(ctx)

		over := s.loseMaster("SIGKILL of the master", s.server.Kill)
		s.figure("renewed after", s.await(over, "a", renewed).At-over)
		for _, label := range labels {
			s.contends(over, label)
		}
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, "", started)).To(HaveLen(1))

		s.overheard(s.client, 2)
		next := s.handsOver(a)
		Expect(s.lock(ctx)).To(HaveKeyWithValue("fence", fmt.Sprint(next.Fence)))
	})

	It("a master that was frozen comes back and takes writes for a while, which changes nothing", func(ctx SpecContext) {
		s := newWatchedScene(longLease)
		a := s.startLeader("a", writing, s.watched)
		for _, label := range []string{"b", "c"} {
			s.startFollower(label, writing, s.watched)
		}
		s.replicated()
		old, oldClient := s.server, s.client
		held := s.lock(ctx)

		over := s.loseMaster("SIGSTOP of the master", old.Freeze)
		s.await(over, "a", renewed)
		s.note(fault, 0, "SIGCONT of the old master")
		old.Thaw()
		back := monotonic()
		const intruder = "intruder"
		Expect(oldClient.HSet(ctx, s.lockKey(), "token", intruder).Err()).To(Succeed(), "a write to the old master")
		Expect(oldClient.Del(ctx, s.lockKey()+":fence").Result()).To(BeEquivalentTo(1), "another")
		Expect(oldClient.HGet(ctx, s.lockKey(), "token").Result()).To(Equal(intruder))
		Expect(role(ctx, oldClient)).To(Equal("master"), "the fault was not injected")

		Eventually(func() string { return role(ctx, oldClient) }).WithTimeout(patience).Should(Equal("slave"))
		s.figure("the old master took writes for", monotonic()-back)
		s.follows(oldClient, s.client)
		demoted := monotonic()
		s.await(demoted, "a", renewed)
		for _, label := range labels {
			s.contends(demoted, label)
		}
		Expect(s.lock(ctx)).To(Equal(held))
		Expect(s.events(0, "", started)).To(HaveLen(1))

		s.overheard(s.client, 2)
		s.handsOver(a)
	})

	It("a leader that is asked to end when the master and all sentinels are gone does not wait for them", func(ctx SpecContext) {
		s := newWatchedScene(usualLease)
		a := s.startLeader("a", writing, s.watched)
		s.note(fault, 0, "the master and all sentinels are gone")
		for _, node := range append(s.sentinels.Nodes, s.server) {
			node.Kill()
		}

		asked, err := a.terminate()
		Expect(err).NotTo(HaveOccurred())
		over := s.await(asked, "a", finished)
		s.figure("ended after", over.At-asked)
		Expect(over.At - asked).To(BeNumerically("<", s.lease+slack)) // three attempts to release, of lease/3 each
	})

	DescribeTable("A13: a term that the promoted replica does not know ends at its next renewal, and the next has a higher token",
		func(ctx SpecContext, lease time.Duration, lastKnown func(*watchedScene, *process)) {
			s := newWatchedScene(lease)
			a := s.startLeader("a", writing, s.watched)
			s.replicated()
			lastKnown(s, a)
			s.startLeader("b", writing, s.watched)
			for _, label := range []string{"c", "d"} {
				s.startFollower(label, writing, s.watched)
			}
			last := s.await(0, "b", started)
			s.await(last.At, "b", wrote)
			for _, f := range s.followers {
				Expect(f.HGet(ctx, s.lockKey(), "fence").Val()).NotTo(Equal(fmt.Sprint(last.Fence)), "the fault was not injected")
				Expect(f.Get(ctx, s.lockKey()+":fence").Val()).To(Equal(fmt.Sprint(s.await(0, "a", started).Fence)))
			}

			over := s.loseMaster("SIGKILL of the master", s.server.Kill)
			s.healReplication(ctx)
			s.note(recovers, s.lease+s.retryBound()+detection, "after a failover that lost the term")

			end := s.await(last.At, "b", stopped)
			next := s.await(last.At, "", started)
			s.figure("the old leader went on for", end.At-over)
			s.figure("beside the next", end.At-next.At)
			Expect(end.At - over).To(BeNumerically("<", s.lease/3+detection))
			Expect(s.await(last.At, "b", cancelled).Detail).To(Or(Equal(leader.ErrLost.Error()), Equal(leader.ErrExpired.Error())))
			Expect(next.Fence).To(BeNumerically(">", last.Fence))
			for _, label := range []string{"b", "c", "d"} {
				s.contends(max(over, next.At), label)
			}

			for _, p := range s.processes {
				if p.label == next.Process {
					s.overheard(s.client, 2)
					s.handsOver(p)
				}
			}
		},
		Entry("which finds nobody leading", longLease, func(s *watchedScene, a *process) {
			_, err := a.terminate()
			Expect(err).NotTo(HaveOccurred())
			s.await(0, "a", finished)
			s.replicated()
			s.cutReplication(context.Background())
		}),
		Entry("which finds one leading that has left", 3*usualLease, func(s *watchedScene, a *process) {
			s.cutReplication(context.Background())
			_, err := a.terminate()
			Expect(err).NotTo(HaveOccurred())
			s.await(0, "a", finished)
		}),
	)
})
