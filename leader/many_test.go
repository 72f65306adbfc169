package leader

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"

	"github.com/redisleader/redisleader/redislock"
)

// Those who start together do not try in the same moment.
func TestFirstAttemptIsStaggered(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.stagger = 70 * time.Millisecond
		a := newReplica(t, server, "a", nil).start(t)
		if waited := await(t, time.Second, "a leads", a.IsLeader); waited != server.stagger {
			t.Errorf("the first attempt came after %v, want %v", waited, server.stagger)
		}
		a.join()
	})
}

// crowd is many electors of one process that share a client.
type crowd struct {
	*scene
	locker  *redislock.Client
	members []*member
}

// member is one elector of a crowd.
type member struct {
	*Elector
	mu    sync.Mutex
	terms int
}

// enter runs one more elector, until the test ends.
func (c *crowd) enter(name string, change func(*Config)) *member {
	c.Helper()
	m := &member{}
	cfg := Config{Name: name, LeaseDuration: testLease, DrainTimeout: time.Millisecond}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) {
		m.mu.Lock()
		m.terms++
		m.mu.Unlock()
		<-ctx.Done()
	}
	if change != nil {
		change(&cfg)
	}
	var err error
	if m.Elector, err = New(c.locker, cfg); err != nil {
		c.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.Run(ctx)
	}()
	c.Cleanup(func() {
		cancel()
		<-done
	})
	c.members = append(c.members, m)
	return m
}

func (m *member) begun() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.terms
}

// The others of its process, which share the client and the connection for
// announcements, do not notice an elector with a callback, a logger or an observer that
// does not return.
func TestWedgedElectorDoesNotTouchTheOthers(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	c := &crowd{scene: s, locker: redislock.New(s.client(s.server.Addr()))}
	wedged := make(chan struct{})
	unwedge := sync.OnceFunc(func() { close(wedged) })
	stuck := func() { <-wedged }
	for i := range 20 {
		for range 2 {
			c.enter(fmt.Sprint("healthy-", i), nil)
		}
	}
	healthy := c.members
	c.enter("work", func(cfg *Config) { cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { stuck() } })
	c.enter("news", func(cfg *Config) { cfg.Callbacks.OnNewLeader = func(string) { stuck() } })
	c.enter("floor", func(cfg *Config) { cfg.FenceFloor = func(context.Context) (int64, error) { stuck(); return 0, nil } })
	c.enter("observer", func(cfg *Config) { cfg.Observer = wedgedObserver{wedged: stuck} })
	c.enter("logger", func(cfg *Config) {
		cfg.Logger = funcr.New(func(_, line string) {
			if strings.Contains(line, "Became leader") {
				stuck()
			}
		}, funcr.Options{})
	})
	t.Cleanup(unwedge) // before the electors are waited for
	leading := func() (n int) {
		for _, m := range healthy {
			if m.IsLeader() {
				n++
			}
		}
		return n
	}
	s.await("each name has a leader", func() bool { return leading() == len(healthy)/2 })
	for end := time.Now().Add(2 * testLease); time.Now().Before(end); time.Sleep(testLease / 20) {
		if n := leading(); n != len(healthy)/2 {
			t.Fatalf("%d of %d names have a leader", n, len(healthy)/2)
		}
	}
	terms := 0
	for _, m := range healthy {
		terms += m.begun()
	}
	if terms != len(healthy)/2 {
		t.Errorf("%d terms of %d names: some were lost", terms, len(healthy)/2)
	}
	for _, m := range healthy {
		if err := m.Resign(t.Context()); err != nil {
			t.Errorf("Resign: %v", err)
		}
	}
	s.await("the others lead", func() bool { return leading() == len(healthy)/2 })
}

// wedgedObserver does not return when its elector becomes leader.
type wedgedObserver struct {
	NopObserver
	wedged func()
}

func (o wedgedObserver) TermStarted(string, int64) { o.wedged() }
