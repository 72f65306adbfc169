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

// A flag takes precedence over the environment, and the environment over the default.
// If the seed is empty, a new one is drawn.
var (
	chaosFlag = flag.String("chaos", "", "how long TestChaos injects faults; default $CHAOS, or 60s")
	seedFlag  = flag.String("seed", "", "seed of TestChaos's schedule of faults; default $SEED, or a random one")
)

const (
	// allKinds is the shortest run that has to contain each kind of fault. The schedule
	// needs less than half of it.
	allKinds = time.Minute
	// overtime is how long a run may go on after the last fault. Then it hangs.
	overtime = 3 * time.Minute
)

// TestChaos injects random faults into five candidates, their connections, their Redis
// and its data, and checks the history.
func TestChaos(t *testing.T) {
	length, seed := chaosLength(t), chaosSeed(t)
	fmt.Fprintf(t.Output(), "chaos: seed %d, %v, %d candidates, leases of %v\n", seed, length, candidates, shortLease)
	hung := time.AfterFunc(length+overtime, func() { panic(fmt.Sprintf("chaos with seed %d hangs", seed)) })
	defer hung.Stop()
	RegisterFailHandler(func(message string, _ ...int) { t.Fatal(message) })

	env := newChaosEnvironment(t)
	env.run(schedule(seed, env.lease), length)
	r := env.finish()

	fmt.Fprintf(t.Output(), "%s\nto repeat the faults: make chaos CHAOS=%v SEED=%d\n", r.summary.table(r.bound), length, seed)
	r.judge(t, length)
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
