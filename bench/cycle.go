package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// cycle obtains a lock that nobody holds, and releases it.
type cycle func(ctx context.Context, key string) error

// cycleTTL is the ttl of locks that are released at once.
const cycleTTL = 10 * time.Second

// cycler is a contender that obtains and releases.
type cycler struct {
	name  string
	open  func(addr string) (cycle, func(), error)
	fence bool // mints a fencing token; the others do not
}

// cyclers are all of them; the first is the floor.
func cyclers() []cycler {
	return []cycler{
		{name: "raw go-redis, SET NX PX + script", open: openRaw},
		{name: "redisleader/redislock", open: openOurs(withoutOptions)},
		{name: "redisleader/redislock, fence", open: openOurs(withFence), fence: true},
		{name: "redisleader/redislock, fence + clock", open: openOurs(withFenceClock), fence: true},
		{name: "bsm/redislock", open: openBSM},
		{name: "redsync", open: openRedsync},
		{name: "rueidislock", open: openRueidis},
	}
}

// tally is what a contender did in its slices of one round.
type tally struct {
	ops     int
	elapsed time.Duration
	mallocs uint64
	bytes   uint64
	took    []float64 // nanoseconds of each cycle
}

func (t *tally) perOp(total float64) float64 { return total / float64(t.ops) }

// runner is a cycler that is open.
type runner struct {
	cycler
	cycle   cycle
	close   func()
	workers int
	keys    []string
	rounds  []tally
	err     error // the first; a runner that failed is not measured any further
}

// openRunner opens a cycler and lets each of its workers run a little, so that
// connections and scripts are there.
func openRunner(ctx context.Context, addr string, c cycler, workers int) *runner {
	r := &runner{cycler: c, close: func() {}, workers: workers}
	for w := range workers {
		r.keys = append(r.keys, fmt.Sprintf("bench-cycle-%d", w))
	}
	cycle, closer, err := c.open(addr)
	if err != nil {
		r.err = err
		return r
	}
	r.cycle, r.close = cycle, closer
	const warmUp = 20 * time.Millisecond
	r.nextRound()
	r.slice(ctx, warmUp)
	r.rounds = nil
	return r
}

func (r *runner) nextRound() { r.rounds = append(r.rounds, tally{}) }

// slice runs the cycles of all workers for a while and adds them to the latest round.
func (r *runner) slice(ctx context.Context, d time.Duration) {
	if r.err != nil {
		return
	}
	t := &r.rounds[len(r.rounds)-1]
	results := make([]tally, r.workers)
	errs := make([]error, r.workers)
	for w := range results {
		results[w].took = make([]float64, 0, 1<<14) // more than fit into a slice: recording allocates nothing
	}
	runtime.GC() // what the one before left behind is none of this one's business
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	if r.workers == 1 {
		errs[0] = r.work(ctx, r.keys[0], began.Add(d), &results[0])
	} else {
		var group sync.WaitGroup
		for w := range results {
			group.Go(func() { errs[w] = r.work(ctx, r.keys[w], began.Add(d), &results[w]) })
		}
		group.Wait()
	}
	t.elapsed += time.Since(began)
	runtime.ReadMemStats(&after)
	t.mallocs += after.Mallocs - before.Mallocs
	t.bytes += after.TotalAlloc - before.TotalAlloc
	r.collect(t, results, errs)
}

func (r *runner) collect(t *tally, results []tally, errs []error) {
	for w, result := range results {
		t.ops += result.ops
		t.took = append(t.took, result.took...)
		if r.err == nil {
			r.err = errs[w]
		}
	}
}

// work is one worker: it has a key of its own.
func (r *runner) work(ctx context.Context, key string, until time.Time, t *tally) error {
	for began := time.Now(); began.Before(until); {
		if err := r.cycle(ctx, key); err != nil {
			return err
		}
		done := time.Now()
		t.took = append(t.took, float64(done.Sub(began)))
		t.ops++
		began = done
	}
	return nil
}

// each is one value per round.
func (r *runner) each(value func(*tally) float64) []float64 {
	var out []float64
	for i := range r.rounds {
		out = append(out, value(&r.rounds[i]))
	}
	return out
}

func (t *tally) nsPerOp() float64     { return t.perOp(float64(t.elapsed)) }
func (t *tally) medianNs() float64    { return quantile(t.took, 0.5) }
func (t *tally) allocsPerOp() float64 { return t.perOp(float64(t.mallocs)) }
func (t *tally) bytesPerOp() float64  { return t.perOp(float64(t.bytes)) }
