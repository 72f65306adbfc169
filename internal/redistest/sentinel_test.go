package redistest

import (
	"context"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"
)

// failedOver waits until the sentinels agree on a master other than old.
func failedOver(t *testing.T, g *SentinelNodes, old *Server) (addr string) {
	t.Helper()
	mustAwait(t, "a failover", func(ctx context.Context) (err error) {
		if addr, err = g.Master(ctx); err == nil && addr == old.Addr() {
			err = fmt.Errorf("the master is still %s", addr)
		}
		return err
	})
	return addr
}

func TestSentinelsFailOver(t *testing.T) {
	cases := map[string]func(*Server){"kill": (*Server).Kill, "freeze": (*Server).Freeze}
	for name, end := range cases {
		t.Run(name, func(t *testing.T) {
			master := Start(t)
			replicas := []*Server{Replica(t, master), Replica(t, master)}
			g := Sentinels(t, master, 3)
			client := g.Client(t)
			if err := client.Set(t.Context(), "k", "v", 0).Err(); err != nil {
				t.Fatal(err)
			}
			if n, err := client.Wait(t.Context(), 2, startTimeout).Result(); n != 2 {
				t.Fatalf("WAIT = %d, %v", n, err)
			}

			end(master)
			addr := failedOver(t, g, master)

			if addr != replicas[0].Addr() && addr != replicas[1].Addr() {
				t.Errorf("master %s is none of the replicas", addr)
			}
			mustAwait(t, "the client to follow", func(ctx context.Context) error {
				return client.Set(ctx, "k", "w", 0).Err()
			})
			promoted := redis.NewClient(&redis.Options{Addr: addr})
			defer func() { _ = promoted.Close() }()
			if got, err := promoted.Get(t.Context(), "k").Result(); got != "w" {
				t.Errorf("GET on the new master = %q, %v, want w", got, err)
			}
		})
	}
}

func TestSentinelsDemoteAMasterThatComesBack(t *testing.T) {
	master := Start(t, "--requirepass", "secret", "--masterauth", "secret")
	replica := Start(t, "--requirepass", "secret", "--masterauth", "secret",
		"--replicaof", "127.0.0.1", fmt.Sprint(master.Port()))
	mustAwait(t, "the replication link", replica.linked)
	g := Sentinels(t, master, 3)
	master.Freeze()
	if addr := failedOver(t, g, master); addr != replica.Addr() {
		t.Errorf("master is %s, want the replica", addr)
	}
	master.Thaw()
	mustAwait(t, "the old master to follow", master.linked)
}

func TestSentinelRestartsWithWhatItKnew(t *testing.T) {
	master := Start(t)
	Replica(t, master)
	g := Sentinels(t, master, 3)
	for _, end := range []func(*Server){(*Server).Kill, (*Server).Shutdown} {
		node := g.Nodes[0]
		addr := node.Addr()
		end(node)
		if !refused(addr) {
			t.Fatal("still listening when down")
		}
		node.Restart()
		mustAwait(t, "the sentinels to know one another", func(ctx context.Context) error {
			return g.ready(ctx, master)
		})
		if got, err := g.Master(t.Context()); got != master.Addr() || node.Addr() != addr {
			t.Errorf("master %s, %v, want %s", got, err, master.Addr())
		}
	}
}

func TestFrozenSentinelIsAnError(t *testing.T) {
	g := Sentinels(t, Start(t), 2)
	g.Nodes[1].Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), probeTimeout)
	defer cancel()
	if addr, err := g.Master(ctx); err == nil {
		t.Errorf("master %s, though one sentinel does not answer", addr)
	}
}
