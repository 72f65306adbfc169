package leader

import (
	"context"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// benchLeader is a leader by the real clocks, over the lock in memory.
func benchLeader(b *testing.B) (*Elector, context.Context, Term) {
	b.Helper()
	started := make(chan context.Context)
	cfg := Config{Name: "bench", LeaseDuration: time.Minute, Logger: silent}
	cfg.Callbacks.OnStartedLeading = func(ctx context.Context, _ Term) { started <- ctx; <-ctx.Done() }
	e := newElector(newMemServer(), cfg.withDefaults(), clock.Now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- e.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Error(err)
		}
	})
	work := <-started
	term, ok := TermFromContext(work)
	if !ok {
		b.Fatal("no term")
	}
	return e, work, term
}

func BenchmarkIsLeader(b *testing.B) {
	e, _, _ := benchLeader(b)
	b.ReportAllocs()
	for b.Loop() {
		if !e.IsLeader() {
			b.Fatal("not leader")
		}
	}
}

func BenchmarkTermCheck(b *testing.B) {
	_, _, term := benchLeader(b)
	b.ReportAllocs()
	for b.Loop() {
		if term.Check() != nil {
			b.Fatal("ended")
		}
	}
}

func BenchmarkContextErr(b *testing.B) {
	_, ctx, _ := benchLeader(b)
	b.ReportAllocs()
	for b.Loop() {
		if ctx.Err() != nil {
			b.Fatal("ended")
		}
	}
}

// BenchmarkTermCheckParallel shows that goroutines do not wait for one another.
func BenchmarkTermCheckParallel(b *testing.B) {
	_, _, term := benchLeader(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if term.Check() != nil {
				b.Error("ended")
				return
			}
		}
	})
}
