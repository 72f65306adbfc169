//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"sync"
)

// reporter sends the events of a candidate process to the test, as lines of JSON.
type reporter struct {
	mu  sync.Mutex // keeps lines whole
	out *json.Encoder
}

func newReporter() *reporter { return &reporter{out: json.NewEncoder(os.Stdout)} }

// send sends an event. Its time is that of the call unless it has one already.
func (r *reporter) send(e event) {
	if e.At == 0 {
		e.At = monotonic()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Encode(e); err != nil {
		os.Exit(exitNoTest)
	}
}
