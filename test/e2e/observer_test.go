//go:build unix

package e2e

import (
	"strconv"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// observer reports what happens to one of the electors of a process. It implements
// leader.Observer.
type observer struct {
	leader.NopObserver
	reporter *reporter
	name     string // added to the label of the process; "" for the first elector
}

// newObserver is for the elector with index i.
func newObserver(r *reporter, i int) observer {
	if i == 0 {
		return observer{reporter: r}
	}
	return observer{reporter: r, name: "#" + strconv.Itoa(i)}
}

func (o observer) report(e event) {
	e.Process = o.name
	o.reporter.send(e)
}

func (o observer) AcquireAttempted(_ string, result leader.AcquireResult) {
	o.report(event{Kind: attempted, Detail: string(result)})
}

func (o observer) RenewAttempted(_ string, renewal leader.Renewal) {
	if renewal.Err != nil {
		o.report(event{Kind: unrenewed, Detail: renewal.Err.Error()})
		return
	}
	o.report(event{Kind: renewed})
}

func (o observer) TermEnded(_ string, reason leader.EndReason, _ time.Duration) {
	o.report(event{Kind: ended, Detail: string(reason)})
}
