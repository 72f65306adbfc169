package redislock

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

func TestA17_UnsupportedClientsAreRefusedBeforeAnyIO(t *testing.T) {
	s := newScene(t)
	proxy := faultproxy.Start(t, s.server.Addr()) // sees whether anything is sent
	client := redis.NewClient(&redis.Options{Addr: proxy.Addr()})
	defer func() { _ = client.Close() }()
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": proxy.Addr()}, HeartbeatFrequency: time.Hour})
	defer func() { _ = ring.Close() }()
	for name, unsupported := range map[string]RedisClient{
		"nil":           nil,
		"ring":          ring,
		"pipeline":      client.Pipeline(),
		"tx pipeline":   client.TxPipeline(),
		"ring pipeline": ring.Pipeline(),
		"tx":            new(redis.Tx),
	} {
		t.Run(name, func(t *testing.T) {
			lock, err := New(unsupported).Obtain(t.Context(), "key", long, nil)
			wantErrors(t, err, ErrUnsupportedClient)
			wantTrouble(t, err)
			if sent := calls(proxy); lock != nil || len(sent) > 0 {
				t.Errorf("lock %v, sent %v", lock, sent)
			}
			if p, ok := unsupported.(redis.Pipeliner); ok && p.Len() != 0 {
				t.Errorf("%d commands were queued", p.Len())
			}
		})
	}
}

func TestSupportedClients(t *testing.T) {
	s := newScene(t)
	universal := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{s.server.Addr()}})
	defer func() { _ = universal.Close() }()
	conn := s.app.Conn()
	defer func() { _ = conn.Close() }()
	resp2 := redis.NewClient(&redis.Options{Addr: s.server.Addr(), Protocol: 2})
	defer func() { _ = resp2.Close() }()
	for name, client := range map[string]RedisClient{"universal": universal, "conn": conn, "RESP2": resp2} {
		for _, op := range s.operations(New(client)) {
			if err := op.do(); err != nil {
				t.Errorf("%s: %s: %v", name, op.name, err)
			}
		}
	}
}

func TestA17_RandomlyRoutingClusterClientSeesTheMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, 1, 1)
	s := sceneOn(t, cluster.Nodes[0])
	announce(s)
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), RouteRandomly: true, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	for range 50 {
		if err := client.HGet(t.Context(), s.key, "token").Err(); err != redis.Nil {
			t.Fatal(err)
		}
		for _, op := range s.operations(New(client)) {
			if err := op.do(); err != nil {
				t.Fatalf("%s: %v", op.name, err)
			}
		}
	}
	replica := cluster.Nodes[1].Client(t).Info(t.Context(), "commandstats").Val()
	if strings.Contains(replica, "cmdstat_eval") {
		t.Errorf("scripts ran on the replica:\n%s", replica)
	}
	if !strings.Contains(replica, "cmdstat_hget:") {
		t.Errorf("the replica was never asked anything, so nothing was routed at random:\n%s", replica)
	}
}

// announce makes the master tell clients of its replica, which it does once that has
// replicated something.
func announce(s *scene) {
	s.eventually("the replica to be announced", func() bool {
		s.must(s.redis.Set(s.Context(), s.fence+"2", "x", 0).Err())
		slots, err := s.redis.Do(s.Context(), "CLUSTER", "SLOTS").Slice()
		s.must(err)
		return len(slots[0].([]any)) == 4 // first and last slot, master, replica
	})
}

func TestClusterSlots(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, 3, 0)
	locker := New(cluster.Client(t))
	for _, c := range []struct {
		name  string
		keys  []string
		fence string
		split bool
	}{
		{"one key", []string{"redisleader:a"}, "", false},
		{"fence with one tag", []string{"redisleader:{a}lock"}, "redisleader:{a}fence", false},
		{"fence elsewhere", []string{"redisleader:a-lock"}, "redisleader:b-fence", true},
		{"several with one tag", []string{"redisleader:{a}1", "redisleader:{a}2"}, "redisleader:{a}fence", false},
		{"several elsewhere", []string{"redisleader:one-lock", "redisleader:two-lock"}, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			lock, err := locker.ObtainMulti(t.Context(), c.keys, long, &Options{FenceKey: c.fence})
			if !c.split {
				if err = errors.Join(err, lock.Refresh(t.Context(), long, nil), lock.Release(t.Context())); err != nil {
					t.Error(err)
				}
				return
			}
			wantTrouble(t, err)
			for _, want := range append(c.keys, c.fence, "slot", "hash tag") {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
		})
	}
}
