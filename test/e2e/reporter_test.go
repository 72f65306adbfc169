//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// reporter sends the events of a candidate process to the test, as lines of JSON.
type reporter struct {
	mu  sync.Mutex // makes lines whole
	out *json.Encoder
}

func newReporter() *reporter { return &reporter{out: json.NewEncoder(os.Stdout)} }

// report sends an event, stamped with the time of the call unless it has a stamp.
func (r *reporter) report(e event) {
	if e.At == 0 {
		e.At = monotonic()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.out.Encode(e); err != nil {
		os.Exit(exitNoTest)
	}
}

// voice reports for one of the electors of a process.
type voice struct {
	leader.NopObserver
	*reporter
	name string // "" of the first, whom the test knows by its process
}

// newVoice is for the elector with index i.
func newVoice(r *reporter, i int) voice {
	if i == 0 {
		return voice{reporter: r}
	}
	return voice{reporter: r, name: "#" + strconv.Itoa(i)}
}

func (v voice) say(e event) {
	e.Process = v.name
	v.report(e)
}

// AcquireAttempted implements leader.Observer.
func (v voice) AcquireAttempted(_ string, result leader.AcquireResult) {
	v.say(event{Kind: attempted, Detail: string(result)})
}

// RenewAttempted implements leader.Observer.
func (v voice) RenewAttempted(_ string, renewal leader.Renewal) {
	if renewal.Err != nil {
		v.say(event{Kind: unrenewed, Detail: renewal.Err.Error()})
		return
	}
	v.say(event{Kind: renewed})
}

// TermEnded implements leader.Observer.
func (v voice) TermEnded(_ string, reason leader.EndReason, _ time.Duration) {
	v.say(event{Kind: ended, Detail: string(reason)})
}
