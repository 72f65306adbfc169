//go:build unix

package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"syscall"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

const (
	// patience bounds what should happen at some time. What has to happen in time is
	// judged by its stamps.
	patience = 20 * time.Second
	// slack is what a busy machine may add to a time that the library promises.
	slack = time.Second
)

// scene is what one spec plays in: its own servers, keys and processes, and the history
// of what happened.
type scene struct {
	server   *redistest.Server // that candidates compete on
	client   *redis.Client
	proxy    *faultproxy.Proxy // to that server, for candidates behindProxy
	store    *redistest.Server // that the guarded resource is on
	resource resource
	prefix   string
	lease    time.Duration

	history   *history
	processes []*process
}

// newScene sets the scene. When the spec is over, all processes end, and the checker
// looks at what happened.
func newScene(lease time.Duration) *scene {
	s := &scene{
		server:  redistest.Start(GinkgoTB()),
		store:   redistest.Start(GinkgoTB()),
		prefix:  "e2e:" + rand.Text() + ":",
		lease:   lease,
		history: new(history),
	}
	s.proxy = faultproxy.Start(GinkgoTB(), s.server.Addr())
	s.client = s.server.Client(GinkgoTB())
	s.resource = resource{s.store.Client(GinkgoTB())}
	DeferCleanup(s.finish)
	return s
}

// finish ends all processes and judges the history.
func (s *scene) finish(ctx context.Context) {
	s.proxy.Heal()
	problems := s.stop()
	register, err := s.resource.register(ctx)
	if err != nil {
		problems = append(problems, err.Error())
	}
	for _, v := range check(s.history.all(), register) {
		problems = append(problems, v.String())
	}
	AddReportEntry("history", ReportEntryVisibilityFailureOrVerbose, s.history.String()+s.complaints())
	Expect(problems).To(BeEmpty())
}

// stop ends all processes in good order and returns what went wrong.
func (s *scene) stop() []string {
	for _, p := range s.processes {
		if !p.ended() {
			_, _ = p.terminate()                      // fails if it ends right now
			_ = p.cmd.Process.Signal(syscall.SIGCONT) // it may be frozen
		}
	}
	var problems []string
	for _, p := range s.processes {
		if err := p.wait(); err != nil {
			problems = append(problems, err.Error())
		}
	}
	return problems
}

// complaints is what processes printed on their standard error.
func (s *scene) complaints() string {
	var b strings.Builder
	for _, p := range s.processes {
		if p.stderr.Len() > 0 {
			fmt.Fprintf(&b, "\nstandard error of %s:\n%s", p.label, p.stderr.String())
		}
	}
	return b.String()
}

// start starts a candidate. Its label is its identity too, unless change says otherwise.
func (s *scene) start(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	set := settings{
		Redis:    s.server.Addr(),
		Resource: s.store.Addr(),
		Prefix:   s.prefix,
		Identity: label,
		Lease:    s.lease,
	}
	for _, c := range change {
		c(&set)
	}
	p, err := startProcess(label, set, s.history)
	Expect(err).NotTo(HaveOccurred())
	s.processes = append(s.processes, p)
	return p
}

// behindProxy has a candidate reach Redis through the proxy.
func (s *scene) behindProxy(set *settings) { set.Redis = s.proxy.Addr() }

// writing has a candidate's work write to the guarded resource all the time.
func writing(set *settings) { set.WriteEvery = 10 * time.Millisecond }

// startLeader starts a candidate and waits until it leads.
func (s *scene) startLeader(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	p := s.start(label, change...)
	s.await(0, label, started)
	return p
}

// startFollower starts a candidate and waits until it has seen that somebody else leads.
func (s *scene) startFollower(label string, change ...func(*settings)) *process {
	GinkgoHelper()
	p := s.start(label, change...)
	s.await(0, label, newLeader)
	return p
}

// note adds what the test does to the history, and returns when.
func (s *scene) note(k kind, within time.Duration, detail string) time.Duration {
	at := monotonic()
	s.history.add(event{At: at, Process: "test", Kind: k, Within: within, Detail: detail})
	return at
}

// await waits for the first event of a kind after an instant and returns it. Label ""
// is any candidate's.
func (s *scene) await(after time.Duration, label string, k kind) event {
	GinkgoHelper()
	var found []event
	Eventually(func() []event {
		found = s.events(after, label, k)
		return found
	}).WithTimeout(patience).WithPolling(5*time.Millisecond).ShouldNot(BeEmpty(), "%s of %q", k, label)
	return found[0]
}

// events are those of a kind after an instant. Label "" is any candidate's.
func (s *scene) events(after time.Duration, label string, k kind) []event {
	return s.history.since(after, func(e event) bool { return e.Kind == k && (label == "" || e.Process == label) })
}

// lockKey is the key of the lock: the prefix and the name, which is a hash tag.
func (s *scene) lockKey() string { return s.prefix + "{" + electionName + "}" }

// lock is what an operator sees of the lock: the fields token, metadata and fence;
// nothing if nobody holds it.
func (s *scene) lock(ctx context.Context) map[string]string {
	GinkgoHelper()
	fields, err := s.client.HGetAll(ctx, s.lockKey()).Result()
	Expect(err).NotTo(HaveOccurred())
	return fields
}

// retryBound is how long a candidate waits at most between two attempts: the default
// RetryPeriod and its jitter.
func (s *scene) retryBound() time.Duration { return s.retryPeriod() * 6 / 5 }

func (s *scene) retryPeriod() time.Duration { return s.lease * 2 / 15 }
