//go:build chaos && unix

package e2e

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	. "github.com/onsi/gomega"
)

// A flag wins over the environment, which wins over the default. An empty seed is a
// fresh one.
var (
	chaosFlag = flag.String("chaos", "", "how long TestChaos injects faults; default $CHAOS, or 60s")
	seedFlag  = flag.String("seed", "", "seed of TestChaos's schedule of faults; default $SEED, or a fresh one")
)

const (
	// allKinds is the length from which on a run has to show each kind of fault. The
	// schedule takes less than half of it.
	allKinds = time.Minute
	// overtime is what a run may take besides injecting faults. After that it hangs.
	overtime = 3 * time.Minute
	// excerpts is how many violations are shown with what happened around them.
	excerpts = 5
)

// TestChaos injects faults at random into five candidates, their connections, their
// Redis and what it holds, and checks the history.
func TestChaos(t *testing.T) {
	length, seed := chaosLength(t), chaosSeed(t)
	fmt.Fprintf(t.Output(), "chaos: seed %d, %v, %d candidates, leases of %v\n", seed, length, candidates, shortLease)
	hung := time.AfterFunc(length+overtime, func() { panic(fmt.Sprintf("chaos with seed %d hangs", seed)) })
	defer hung.Stop()
	RegisterFailHandler(func(message string, _ ...int) { t.Fatal(message) })

	a := newArena(t)
	a.run(schedule(seed, a.lease), length)
	v := a.finish()

	fmt.Fprintf(t.Output(), "%s\nto repeat the faults: make chaos CHAOS=%v SEED=%d\n", v.tally.table(a.recovery()), length, seed)
	v.judge(t, length)
}

func chaosLength(t *testing.T) time.Duration {
	length, err := time.ParseDuration(cmp.Or(*chaosFlag, os.Getenv("CHAOS"), allKinds.String()))
	if err != nil {
		t.Fatalf("chaos: %v", err)
	}
	return length
}

func chaosSeed(t *testing.T) uint64 {
	text := cmp.Or(*seedFlag, os.Getenv("SEED"))
	if text == "" {
		return rand.Uint64N(1_000_000) // easy to type
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("seed: %v", err)
	}
	return seed
}

// verdict is what came of a run.
type verdict struct {
	tally      tally
	history    *history
	bound      time.Duration
	violations []violation
	problems   []string // with processes
}

// judge fails the test for everything that is wrong.
func (v verdict) judge(t *testing.T, length time.Duration) {
	for i, found := range v.violations {
		t.Error(found)
		if found.at != 0 && i < excerpts {
			t.Logf("what happened around it, in ms:\n%s", v.history.excerpt(found.at, 3*shortLease, 2*shortLease))
		}
	}
	for _, problem := range v.problems {
		t.Error(problem)
	}
	if missing := v.tally.missing(); length >= allKinds && len(missing) > 0 {
		t.Errorf("these faults did not happen: %q", missing)
	}
	if v.tally.unfenced == 0 {
		t.Error("the control shows no violation without fencing, so that nothing was tested")
	}
	if v.tally.vacancy > v.bound {
		t.Errorf("nobody led for %v while all was well", v.tally.vacancy)
	}
}
