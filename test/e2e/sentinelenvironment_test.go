//go:build unix

package e2e

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// sentinelEnvironment is an environment whose server has two replicas, and three
// sentinels that replace it with one of them.
type sentinelEnvironment struct {
	*environment
	replicas       []*redistest.Server
	replicaClients []*redis.Client
	sentinels      *redistest.SentinelNodes
}

func newSentinelEnvironment(lease time.Duration) *sentinelEnvironment {
	GinkgoHelper()
	env := &sentinelEnvironment{environment: newEnvironment(lease)}
	for range 2 {
		r := redistest.Replica(GinkgoTB(), env.server)
		env.replicas, env.replicaClients = append(env.replicas, r), append(env.replicaClients, r.Client(GinkgoTB()))
	}
	env.sentinels = redistest.Sentinels(GinkgoTB(), env.server, 3)
	DeferCleanup(env.endCandidates)
	return env
}

// endCandidates ends the candidates before the servers started here go away.
// environment.finish reports what was wrong with their end.
func (env *sentinelEnvironment) endCandidates() {
	env.stop()
	for _, node := range env.sentinels.Nodes {
		AddReportEntry("log of a sentinel", ReportEntryVisibilityFailureOrVerbose, node.Log())
	}
}

// viaSentinels makes a candidate ask the sentinels where the master is.
func (env *sentinelEnvironment) viaSentinels(s *settings) { s.Sentinels = env.sentinels.Addrs() }

// startLeaderAndFollowers starts a leader a and the followers b and c.
func (env *sentinelEnvironment) startLeaderAndFollowers() *process {
	GinkgoHelper()
	a := env.startLeader("a", writing, env.viaSentinels)
	env.startFollower("b", writing, env.viaSentinels)
	env.startFollower("c", writing, env.viaSentinels)
	return a
}

// awaitReplicas waits until both replicas have the same lock as the master.
func (env *sentinelEnvironment) awaitReplicas() {
	GinkgoHelper()
	for _, c := range env.replicaClients {
		env.awaitReplication(c, env.client)
	}
}

// loseMaster takes the master away with end and returns when the sentinels have
// replaced it. From then on, the server of the environment is the new master.
func (env *sentinelEnvironment) loseMaster(how string, end func()) time.Duration {
	GinkgoHelper()
	master, at := env.failOver(how, env.replicas, end)
	env.server, env.client = master, master.Client(GinkgoTB())
	return at
}

// cutReplication cuts the links of both replicas until healReplication, by giving them
// a password that the master does not accept. They keep their address of the master,
// which sentinels would otherwise correct, and nothing waits in their sockets, as it
// would if they were stopped.
func (env *sentinelEnvironment) cutReplication(ctx context.Context) {
	GinkgoHelper()
	env.record(fault, 0, "replication is cut")
	for _, c := range env.replicaClients {
		Expect(c.ConfigSet(ctx, "masterauth", "wrong").Err()).To(Succeed())
	}
	Expect(env.client.ClientKillByFilter(ctx, "TYPE", "replica").Result()).To(BeEquivalentTo(2), "links that were cut")
	for _, c := range env.replicaClients {
		Eventually(func() string { return c.Info(ctx, "replication").Val() }).
			WithTimeout(waitLimit).Should(ContainSubstring("master_link_status:down"))
	}
}

// healReplication lets the replicas connect again.
func (env *sentinelEnvironment) healReplication(ctx context.Context) {
	GinkgoHelper()
	for _, c := range env.replicaClients {
		Expect(c.ConfigSet(ctx, "masterauth", "").Err()).To(Succeed())
	}
}
