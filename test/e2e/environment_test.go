//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
)

const (
	// waitLimit is how long the test waits for something that has to happen. Whether it
	// happened in time is judged by the times in the history.
	waitLimit = 20 * time.Second
	// slack is what a busy machine may add to a time that the library promises.
	slack = time.Second
)

// environment is what one spec runs in: servers, keys and processes of its own, and the
// history of what happened.
type environment struct {
	server   *redistest.Server // that candidates compete on
	client   *redis.Client
	proxy    *faultproxy.Proxy // to that server, for candidates behindProxy
	store    *redistest.Server // that holds the guarded resource
	resource resource
	prefix   string
	lease    time.Duration

	history   *history
	processes []*process
}

// newEnvironment starts an environment for a spec. When the spec is over, all processes
// end and the checker judges the history.
func newEnvironment(lease time.Duration) *environment {
	env := startServers(GinkgoTB(), lease)
	DeferCleanup(env.finish)
	return env
}

// startServers starts the servers of an environment, which end with the test. The
// server that candidates compete on gets the options given.
func startServers(tb testing.TB, lease time.Duration, options ...string) *environment {
	env := &environment{
		server:  redistest.Start(tb, options...),
		store:   redistest.Start(tb),
		prefix:  "e2e:" + rand.Text() + ":",
		lease:   lease,
		history: new(history),
	}
	env.proxy = faultproxy.Start(tb, env.server.Addr())
	env.client = env.server.Client(tb)
	env.resource = resource{env.store.Client(tb)}
	return env
}

// finish ends all processes and judges the history.
func (env *environment) finish(ctx context.Context) {
	env.proxy.Heal()
	problems := env.stop()
	register, err := env.resource.register(ctx)
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, v := range check(env.history.all(), register) {
		problems = append(problems, v.String())
	}
	AddReportEntry("history", ReportEntryVisibilityFailureOrVerbose, env.history.String()+env.stderr())
	Expect(problems).To(BeEmpty())
}

// stop lets all processes end gracefully and returns what went wrong.
func (env *environment) stop() []string {
	for _, p := range env.processes {
		if !p.ended() {
			_, _ = p.terminate()                      // fails if it ends right now
			_ = p.cmd.Process.Signal(syscall.SIGCONT) // it may be frozen
		}
	}
	var problems []string
	for _, p := range env.processes {
		if err := p.wait(); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// stderr is what the processes have printed on their standard error.
func (env *environment) stderr() string {
	var b strings.Builder
	for _, p := range env.processes {
		if p.stderr.Len() > 0 {
			fmt.Fprintf(&b, "\nstandard error of %s:\n%s", p.label, p.stderr.String())
		}
	}
	return b.String()
}

// start starts a candidate. Its label is also its identity, unless change sets another.
func (env *environment) start(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	s := settings{
		Redis:    env.server.Addr(),
		Resource: env.store.Addr(),
		Prefix:   env.prefix,
		Identity: label,
		Lease:    env.lease,
	}
	for _, c := range change {
		c(&s)
	}
	p, err := startProcess(label, s, env.history)
	Expect(err).NotTo(HaveOccurred())
	env.processes = append(env.processes, p)
	return p
}

// behindProxy makes a candidate reach Redis through the proxy.
func (env *environment) behindProxy(s *settings) { s.Redis = env.proxy.Addr() }

// writing makes a candidate's work write to the guarded resource all the time.
func writing(s *settings) { s.WriteEvery = 10 * time.Millisecond }

// startLeader starts a candidate and waits until it leads.
func (env *environment) startLeader(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	p := env.start(label, change...)
	env.await(0, label, started)
	return p
}

// startFollower starts a candidate and waits until it has seen another one lead.
func (env *environment) startFollower(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	p := env.start(label, change...)
	env.await(0, label, newLeader)
	return p
}

// terminate sends SIGTERM to a process and returns when.
func (env *environment) terminate(p *process) time.Duration {
	GinkgoHelper()
	at, err := p.terminate()
	Expect(err).NotTo(HaveOccurred())
	return at
}

// record adds what the test does to the history and returns when.
func (env *environment) record(k kind, within time.Duration, detail string) time.Duration {
	at := monotonic()
	env.history.add(event{At: at, Process: "test", Kind: k, Within: within, Detail: detail})
	return at
}

// await waits for the first event of a kind after an instant and returns it. Label ""
// is any candidate's.
func (env *environment) await(after time.Duration, label string, k kind) event {
	GinkgoHelper()
	var found []event
	Eventually(func() []event {
		found = env.events(after, label, k)
		return found
	}).WithTimeout(waitLimit).WithPolling(5*time.Millisecond).ShouldNot(BeEmpty(), "%s of %q", k, label)
	return found[0]
}

// events returns the events of a kind after an instant. Label "" is any candidate's.
func (env *environment) events(after time.Duration, label string, k kind) []event {
	return env.history.since(after, k.by(label))
}

// eventsBetween returns the events of a kind between two instants, both excluded.
func (env *environment) eventsBetween(after, before time.Duration, label string, k kind) []event {
	return env.history.since(after, func(e event) bool { return k.by(label)(e) && e.At < before })
}

// lockKey is the key of the lock.
func (env *environment) lockKey() string { return leader.LockKey(env.prefix, electionName) }

// fenceKey is the key of the counter for fencing tokens.
func (env *environment) fenceKey() string { return leader.FenceKey(env.prefix, electionName) }

// lock is what an operator sees of the lock: the fields token, metadata and fence, or
// nothing if nobody holds it.
func (env *environment) lock(ctx context.Context) map[string]string {
	GinkgoHelper()
	fields, err := env.client.HGetAll(ctx, env.lockKey()).Result()
	Expect(err).NotTo(HaveOccurred())
	return fields
}

// retryBound is the longest time that a candidate waits between two attempts: the
// default RetryPeriod with its jitter.
func (env *environment) retryBound() time.Duration { return env.retryPeriod() * 6 / 5 }

func (env *environment) retryPeriod() time.Duration { return env.lease * 2 / 15 }
