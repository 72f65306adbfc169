//go:build unix

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// redial is how long go-redis may wait before it dials a server again that did not
// answer: once all connections of a pool have failed, it tries once a second.
const redial = time.Second

var labels = []string{"a", "b", "c"}

// startThree starts candidates with these labels and waits until one of them leads.
func (env *environment) startThree() {
	GinkgoHelper()
	for _, label := range labels {
		env.start(label, writing)
	}
	env.await(0, "", started)
}

// pause makes the server answer nobody for d, and returns when that is over.
func (env *environment) pause(ctx context.Context, d time.Duration) time.Duration {
	GinkgoHelper()
	env.record(fault, 0, "CLIENT PAUSE")
	Expect(env.client.ClientPause(ctx, d).Err()).To(Succeed())
	time.Sleep(d)
	return env.record(recovers, env.retryBound()+redial+slack, "after CLIENT PAUSE")
}

// outage kills the server, which has saved nothing, for d, and returns when it is back.
func (env *environment) outage(d time.Duration) time.Duration {
	env.record(fault, 0, "Redis is down")
	env.server.Kill()
	time.Sleep(d)
	env.server.Restart()
	return env.record(recovers, env.retryBound()+redial+slack, "after an outage")
}

// awaitAnswers waits until each of the candidates has had an answer from Redis after an
// instant, and so still competes.
func (env *environment) awaitAnswers(after time.Duration, candidates ...string) {
	GinkgoHelper()
	for _, label := range candidates {
		answered := func(e event) bool {
			return renewed.by(label)(e) || attempted.by(label)(e) && e.Detail != "failed"
		}
		Eventually(func() []event { return env.history.since(after, answered) }).
			WithTimeout(waitLimit).ShouldNot(BeEmpty(), "%s no longer competes", label)
	}
}

// measure asks all candidates what they use.
func (env *environment) measure() []usage {
	GinkgoHelper()
	var all []usage
	for _, p := range env.processes {
		after := monotonic()
		Expect(p.command(commandMeasure)).To(Succeed())
		all = append(all, env.await(after, p.label, measured).Usage)
	}
	return all
}

var _ = Describe("Redis is unavailable", func() {
	It("B1: all candidates still compete after each of three pauses of two leases", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		env.startThree()
		for range 3 {
			over := env.pause(ctx, 2*env.lease)
			env.awaitAnswers(over, labels...)
		}
	})

	It("B2: after each of four outages one candidate leads in time, and nothing accumulates", func(ctx SpecContext) {
		env := newEnvironment(shortLease)
		env.startThree()
		var first, last []usage
		for range 4 {
			down := monotonic()
			back := env.outage(env.lease * 5 / 2)
			env.awaitAnswers(back, labels...)
			Expect(env.events(down, "", started)).To(HaveLen(1), "terms after one outage")
			last = env.measure()
			if first == nil {
				first = last
			}
		}
		const spare = 3 // what may be in flight at the moment of counting
		for i, p := range env.processes {
			Expect(last[i].Goroutines).To(BeNumerically("<=", first[i].Goroutines+spare), "goroutines of %s", p.label)
			Expect(last[i].Connections).To(BeNumerically("<=", first[i].Connections+spare), "connections of %s", p.label)
		}
	})
})
