//go:build unix

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// redial is how long go-redis may wait before it dials a server again that did not
// answer: once all connections of a pool have failed, it looks once a second.
const redial = time.Second

var labels = []string{"a", "b", "c"}

// pause has the server answer nobody for d, and returns when that is over.
func (s *scene) pause(ctx context.Context, d time.Duration) time.Duration {
	GinkgoHelper()
	s.note(fault, 0, "CLIENT PAUSE")
	Expect(s.client.ClientPause(ctx, d).Err()).To(Succeed())
	time.Sleep(d)
	return s.note(recovers, s.retryBound()+redial+slack, "after CLIENT PAUSE")
}

// outage kills the server, which has saved nothing, for d, and returns when it is back.
func (s *scene) outage(d time.Duration) time.Duration {
	s.note(fault, 0, "Redis is down")
	s.server.Kill()
	time.Sleep(d)
	s.server.Restart()
	return s.note(recovers, s.retryBound()+redial+slack, "after an outage")
}

// contends waits until a candidate has had an answer from Redis after an instant.
func (s *scene) contends(after time.Duration, label string) {
	GinkgoHelper()
	Eventually(func() []event {
		return s.history.since(after, func(e event) bool {
			return e.Process == label && (e.Kind == renewed || e.Kind == attempted && e.Detail != "failed")
		})
	}).WithTimeout(patience).ShouldNot(BeEmpty(), "%s does not compete any more", label)
}

// count asks a candidate what it uses.
func (s *scene) count(p *process) counts {
	GinkgoHelper()
	after := monotonic()
	Expect(p.command(commandCount)).To(Succeed())
	return s.await(after, p.label, counted).Count
}

var _ = Describe("Redis is away", func() {
	It("B1: all candidates still compete after each of three pauses of two leases", func(ctx SpecContext) {
		s := newScene(shortLease)
		for _, label := range labels {
			s.start(label, writing)
		}
		s.await(0, "", started)
		for range 3 {
			over := s.pause(ctx, 2*s.lease)
			for _, label := range labels {
				s.contends(over, label)
			}
		}
	})

	It("B2: one leads in time after each of four outages, and nothing piles up", func(ctx SpecContext) {
		s := newScene(shortLease)
		for _, label := range labels {
			s.start(label, writing)
		}
		s.await(0, "", started)
		var first, last []counts
		for range 4 {
			down := monotonic()
			back := s.outage(s.lease * 5 / 2)
			for _, label := range labels {
				s.contends(back, label)
			}
			Expect(s.events(down, "", started)).To(HaveLen(1), "terms after one outage")
			last = nil
			for _, p := range s.processes {
				last = append(last, s.count(p))
			}
			if first == nil {
				first = last
			}
		}
		const spare = 3 // what happens to be under way at the moment of counting
		for i, p := range s.processes {
			Expect(last[i].Goroutines).To(BeNumerically("<=", first[i].Goroutines+spare), "goroutines of %s", p.label)
			Expect(last[i].Connections).To(BeNumerically("<=", first[i].Connections+spare), "connections of %s", p.label)
		}
	})
})
