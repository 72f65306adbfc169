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

// Candidates that start together do not try at the same moment.
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

// process has many electors that share a client.
type process struct {
	*environment
	locker  *redislock.Client
	members []*member
}

// member is one elector of a process.
type member struct {
	*Elector
	mu    sync.Mutex
	terms int
}

// run adds an elector and runs it until the test ends.
func (p *process) run(name string, change func(*Config)) *member {
	p.Helper()
	m := &member{}
	cfg := Config{Name: name, LeaseDuration: testLease, Logger: silent}
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
	if m.Elector, err = New(p.locker, cfg); err != nil {
		p.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = m.Run(ctx)
	}()
	p.Cleanup(func() {
		cancel()
		<-done
	})
	p.members = append(p.members, m)
	return m
}

func (m *member) begun() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.terms
}

// An elector is stuck in a callback, in its Logger or in its Observer. The others of
// its process are not affected, although they share its client and its connection for
// announcements.
func TestWedgedElectorDoesNotTouchTheOthers(t *testing.T) {
	t.Parallel()
	env := newEnvironment(t)
	p := &process{environment: env, locker: redislock.New(env.client(env.server.Addr()))}
	wedged := make(chan struct{})
	unwedge := sync.OnceFunc(func() { close(wedged) })
	stuck := func() { <-wedged }
	for i := range 20 {
		for range 2 {
			p.run(fmt.Sprint("healthy-", i), nil)
		}
	}
	healthy := p.members
	p.run("work", func(cfg *Config) { cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { stuck() } })
	p.run("news", func(cfg *Config) { cfg.Callbacks.OnNewLeader = func(string) { stuck() } })
	p.run("floor", func(cfg *Config) { cfg.FenceFloor = func(context.Context) (int64, error) { stuck(); return 0, nil } })
	p.run("observer", func(cfg *Config) { cfg.Observer = wedgedObserver{wedged: stuck} })
	p.run("logger", func(cfg *Config) {
		cfg.Logger = funcr.New(func(_, line string) {
			if strings.Contains(line, "Became leader") {
				stuck()
			}
		}, funcr.Options{})
	})
	t.Cleanup(unwedge) // before the test waits for the electors
	leading := func() (n int) {
		for _, m := range healthy {
			if m.IsLeader() {
				n++
			}
		}
		return n
	}
	env.await("each name has a leader", func() bool { return leading() == len(healthy)/2 })
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
	env.await("the others lead", func() bool { return leading() == len(healthy)/2 })
}

// wedgedObserver blocks its elector when that becomes the leader.
type wedgedObserver struct {
	NopObserver
	wedged func()
}

func (o wedgedObserver) TermStarted(string, int64) { o.wedged() }
