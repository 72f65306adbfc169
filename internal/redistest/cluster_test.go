package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

func TestClusterServesEachSlot(t *testing.T) {
	c := Cluster(t, 2, 1)
	if len(c.Nodes) != 4 || len(c.Addrs()) != 4 {
		t.Fatalf("%d nodes, addresses %v, want 4", len(c.Nodes), c.Addrs())
	}
	client := c.Client(t)
	for i := range 20 {
		if err := client.Set(t.Context(), fmt.Sprint("key", i), i, 0).Err(); err != nil {
			t.Errorf("SET key%d: %v", i, err)
		}
	}
	err := client.ForEachMaster(t.Context(), func(ctx context.Context, node *redis.Client) error {
		size, err := node.DBSize(ctx).Result()
		if size == 0 {
			err = errors.Join(err, errors.New("a master got no key"))
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestClusterNodeRestarts(t *testing.T) {
	c := Cluster(t, 1, 0)
	c.Nodes[0].Kill()
	c.Nodes[0].Restart()
	mustAwait(t, "the cluster to serve again", func(ctx context.Context) error {
		return c.Client(t).Set(ctx, "k", "v", 0).Err()
	})
}

func TestClusterNodeNeedsItsBusPort(t *testing.T) {
	s := Start(t, "--cluster-enabled", "yes")
	s.Kill()
	bus, err := net.Listen("tcp", loopback(s.Port()+busOffset))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = bus.Close() }()
	if err := s.run(); !errors.Is(err, errPortTaken) {
		t.Errorf("run on a taken bus port: %v, want errPortTaken", err)
	}
}
