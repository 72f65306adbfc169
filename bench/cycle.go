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

// opener connects to a server. It returns a cycle there and what closes the connections.
type opener func(addr string) (cycle, func(), error)

// cycleTTL is the ttl of the locks of cycles.
const cycleTTL = 10 * time.Second

// cycler is a contender that obtains and releases.
type cycler struct {
	name  string
	open  opener
	fence bool // mints a fencing token; the others do not
}

// cyclers are all of them. The first is the floor.
func cyclers() []cycler {
	return []cycler{
		{name: "raw go-redis, SET NX PX + script", open: openRaw},
		{name: "redisleader/redislock", open: openRedisleader(withoutOptions)},
		{name: "redisleader/redislock, fence", open: openRedisleader(withFence), fence: true},
		{
			name: "redisleader/redislock, fence + clock",
			open: openRedisleader(withFenceClock), fence: true,
		},
		{name: "bsm/redislock", open: openBSM},
		{name: "redsync", open: openRedsync},
		{name: "rueidislock", open: openRueidis},
	}
}

// roundStats are the sums over a contender's slices of one round.
type roundStats struct {
	ops     int
	elapsed time.Duration
	mallocs uint64
	bytes   uint64
	took    []float64 // nanoseconds of each cycle
}

func (r *roundStats) perOp(total float64) float64 { return total / float64(r.ops) }

func (r *roundStats) nsPerOp() float64     { return r.perOp(float64(r.elapsed)) }
func (r *roundStats) medianNs() float64    { return quantile(r.took, 0.5) }
func (r *roundStats) allocsPerOp() float64 { return r.perOp(float64(r.mallocs)) }
func (r *roundStats) bytesPerOp() float64  { return r.perOp(float64(r.bytes)) }

// runner is a cycler that is open.
type runner struct {
	cycler
	cycle   cycle
	close   func()
	workers int
	keys    []string
	rounds  []roundStats
	err     error // the first one; it ends the measurement of this runner
}

// openRunner opens a cycler and lets each of its workers run for a moment, so that
// connections are open and scripts are loaded.
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

func (r *runner) nextRound() { r.rounds = append(r.rounds, roundStats{}) }

// slice runs the cycles of all workers for a while and adds them to the latest round.
func (r *runner) slice(ctx context.Context, d time.Duration) {
	if r.err != nil {
		return
	}
	stats := &r.rounds[len(r.rounds)-1]
	results, errs := make([]roundStats, r.workers), make([]error, r.workers)
	for w := range results {
		// More than fit into a slice, so that recording does not allocate.
		results[w].took = make([]float64, 0, 1<<14)
	}
	runtime.GC() // so that no contender pays for the garbage of the one before
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	r.runWorkers(ctx, began.Add(d), results, errs)
	stats.elapsed += time.Since(began)
	runtime.ReadMemStats(&after)
	stats.mallocs += after.Mallocs - before.Mallocs
	stats.bytes += after.TotalAlloc - before.TotalAlloc
	r.collect(stats, results, errs)
}

// runWorkers runs the cycles of all workers. A single worker runs on this goroutine.
func (r *runner) runWorkers(
	ctx context.Context, until time.Time, results []roundStats, errs []error,
) {
	if r.workers == 1 {
		errs[0] = r.work(ctx, r.keys[0], until, &results[0])
		return
	}
	var group sync.WaitGroup
	for w := range results {
		group.Go(func() { errs[w] = r.work(ctx, r.keys[w], until, &results[w]) })
	}
	group.Wait()
}

// collect adds the results of the workers.
func (r *runner) collect(stats *roundStats, results []roundStats, errs []error) {
	for w, result := range results {
		stats.ops += result.ops
		stats.took = append(stats.took, result.took...)
		if r.err == nil {
			r.err = errs[w]
		}
	}
}

// work is one worker. Each has a key of its own.
func (r *runner) work(ctx context.Context, key string, until time.Time, stats *roundStats) error {
	for began := time.Now(); began.Before(until); {
		if err := r.cycle(ctx, key); err != nil {
			return err
		}
		done := time.Now()
		stats.took = append(stats.took, float64(done.Sub(began)))
		stats.ops++
		began = done
	}
	return nil
}

// each returns one value for each round.
func (r *runner) each(value func(*roundStats) float64) []float64 {
	var out []float64
	for i := range r.rounds {
		out = append(out, value(&r.rounds[i]))
	}
	return out
}
