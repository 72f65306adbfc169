package redislock

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

// unsupported returns one client of each kind that is refused, all of the server at
// addr.
func unsupported(t *testing.T, addr string) map[string]RedisClient {
	client := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = client.Close() })
	ring := redis.NewRing(&redis.RingOptions{Addrs: map[string]string{"a": addr}, HeartbeatFrequency: time.Hour})
	t.Cleanup(func() { _ = ring.Close() })
	return map[string]RedisClient{
		"nil":           nil,
		"ring":          ring,
		"pipeline":      client.Pipeline(),
		"tx pipeline":   client.TxPipeline(),
		"ring pipeline": ring.Pipeline(),
		"tx":            new(redis.Tx),
	}
}

func TestA17_UnsupportedClientsAreRefusedBeforeAnyIO(t *testing.T) {
	e := onSharedServer(t)
	proxy := faultproxy.Start(t, e.server.Addr()) // sees whether anything is sent
	for name, client := range unsupported(t, proxy.Addr()) {
		t.Run(name, func(t *testing.T) {
			lock, err := New(client).Obtain(t.Context(), "key", long, nil)
			wantErrors(t, err, ErrUnsupportedClient)
			wantFailure(t, err)
			err = New(client).RequestRelease(t.Context(), "key", 1)
			wantErrors(t, err, ErrUnsupportedClient)
			wantFailure(t, err)
			if sent := calls(proxy); lock != nil || len(sent) > 0 {
				t.Errorf("lock %v, sent %v", lock, sent)
			}
			if p, ok := client.(redis.Pipeliner); ok && p.Len() != 0 {
				t.Errorf("%d commands were queued", p.Len())
			}
		})
	}
}

func TestCheckNamesTheClientThatIsRefused(t *testing.T) {
	e := onSharedServer(t)
	for name, client := range unsupported(t, e.server.Addr()) {
		err := New(client).Check()
		wantErrors(t, err, ErrUnsupportedClient)
		if want := fmt.Sprintf("%T", client); err != nil && client != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error = %v, want %q in it", name, err, want)
		}
	}
}

// supported returns one client of each kind that works, all of the server at addr.
func supported(t *testing.T, addr string) map[string]RedisClient {
	plain := redis.NewClient(&redis.Options{Addr: addr})
	t.Cleanup(func() { _ = plain.Close() })
	universal := redis.NewUniversalClient(&redis.UniversalOptions{Addrs: []string{addr}})
	t.Cleanup(func() { _ = universal.Close() })
	conn := plain.Conn()
	t.Cleanup(func() { _ = conn.Close() })
	resp2 := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2})
	t.Cleanup(func() { _ = resp2.Close() })
	return map[string]RedisClient{"plain": plain, "universal": universal, "conn": conn, "RESP2": resp2}
}

func TestCheckOfASupportedClientDoesNoIO(t *testing.T) {
	e := onSharedServer(t)
	proxy := faultproxy.Start(t, e.server.Addr())
	clients := supported(t, proxy.Addr())
	cluster := redis.NewClusterClient(&redis.ClusterOptions{Addrs: []string{proxy.Addr()}})
	defer func() { _ = cluster.Close() }()
	sentinel := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: "x", SentinelAddrs: []string{proxy.Addr()}})
	defer func() { _ = sentinel.Close() }()
	clients["cluster"], clients["failover"], clients["scripts alone"] = cluster, sentinel, unused{}
	for name, client := range clients {
		if err := New(client).Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent := proxy.Commands(); len(sent) > 0 {
		t.Errorf("sent %v", sent)
	}
}

func TestSupportedClients(t *testing.T) {
	e := onSharedServer(t)
	for name, client := range supported(t, e.server.Addr()) {
		for _, op := range e.operations(New(client)) {
			if err := op.do(); err != nil {
				t.Errorf("%s: %s: %v", name, op.name, err)
			}
		}
	}
}

func TestA17_RandomlyRoutingClusterClientSeesTheMaster(t *testing.T) {
	t.Parallel()
	cluster := redistest.Cluster(t, 1, 1)
	e := onServer(t, cluster.Nodes[0])
	e.replicaKnown()
	client := redis.NewClusterClient(&redis.ClusterOptions{Addrs: cluster.Addrs(), RouteRandomly: true, ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	for range 50 {
		// A key that never exists, because the replica may lag behind the master.
		if err := client.HGet(t.Context(), e.key+"2", "token").Err(); err != redis.Nil {
			t.Fatal(err)
		}
		for _, op := range e.operations(New(client)) {
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

// replicaKnown waits until the master tells clients about its replica, which it does
// once that has replicated something.
func (e *environment) replicaKnown() {
	e.Helper()
	e.eventually("the master to name its replica", func() bool {
		e.must(e.redis.Set(e.Context(), e.fence+"2", "x", 0).Err())
		slots, err := e.redis.Do(e.Context(), "CLUSTER", "SLOTS").Slice()
		e.must(err)
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
			wantFailure(t, err)
			for _, want := range append(c.keys, c.fence, "slot", "hash tag") {
				if err != nil && !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want %q in it", err, want)
				}
			}
		})
	}
}
