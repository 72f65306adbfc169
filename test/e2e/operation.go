package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a write to the guarded register, or a read of it by the test, as those
// saw it who asked for it.
type operation struct {
	process   string
	call, end time.Duration // end is forever if no answer came
	reads     bool
	outcome   outcome // of a write
	entry             // what was written or read
	index     int     // of a read: how many writes the register had accepted; of a write with an unknown outcome: its place
}

// outcome is what is known of a write.
type outcome string

const (
	accepted outcome = "accepted"
	rejected outcome = "rejected"
	unknown  outcome = "unknown" // it may have been applied, and may still be
)

func (o operation) String() string {
	if o.reads {
		return fmt.Sprintf("read of %q with token %d at %d", o.value, o.token, o.index)
	}
	return fmt.Sprintf("write of %q with token %d, %s", o.value, o.token, o.outcome)
}

// operations reads from a history what was asked of the register, in order of the
// calls, and ends it with what the register holds in the end. A write that the register
// holds and nobody has reported must be that of a process that was killed; those of
// anybody else are violations.
func operations(events []event, register []entry) ([]operation, []violation) {
	var all []operation
	reported := make(map[string]bool)
	places := make(map[string]int)
	for i, e := range register {
		places[e.value] = i
	}
	for _, e := range events {
		switch e.Kind {
		case read:
			all = append(all, operation{process: e.Process, call: e.Begun, end: e.At, reads: true, entry: entry{e.Fence, e.Value}, index: e.Seq})
		case wrote:
			reported[e.Value] = true
			o := operation{process: e.Process, call: e.Begun, end: e.At, outcome: answer(e), entry: entry{e.Fence, e.Value}}
			place, applied := places[e.Value]
			if o.outcome == unknown && !applied {
				continue // whatever became of it, it changed nothing
			}
			if o.outcome == unknown {
				o.end, o.index = forever, place
			}
			all = append(all, o)
		}
	}
	var found []violation
	for i, e := range register {
		if reported[e.value] {
			continue
		}
		o, err := unreported(events, e, i)
		if err != nil {
			found = append(found, violation{ruleAtomic, err.Error(), 0})
			continue
		}
		all = append(all, o)
	}
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	return append(all, lastly(events, register)), found
}

// answer is the outcome of a write that was reported.
func answer(e event) outcome {
	switch {
	case e.Detail != "":
		return unknown
	case e.Accepted:
		return accepted
	}
	return rejected
}

// unreported is the write of a process that was killed before it could tell. It was
// sent after its term began.
func unreported(events []event, e entry, place int) (operation, error) {
	process, _, _ := strings.Cut(e.value, "/")
	begun := slices.IndexFunc(events, func(x event) bool { return x.Process == process && x.Kind == started && x.Fence == e.token })
	dead := slices.ContainsFunc(events, func(x event) bool { return x.Process == process && x.Kind == killed })
	if begun < 0 || !dead {
		return operation{}, fmt.Errorf("nobody has written %q with token %d", e.value, e.token)
	}
	return operation{process: process, call: events[begun].At, end: forever, outcome: unknown, entry: e, index: place}, nil
}

// lastly is the read that ends a history: the register when all processes have ended.
func lastly(events []event, register []entry) operation {
	o := operation{process: "test", reads: true, index: len(register)}
	if len(events) > 0 {
		o.call = events[len(events)-1].At + 1
	}
	if len(register) > 0 {
		o.entry = register[len(register)-1]
	}
	o.end = o.call
	return o
}

// porcupine is the operation as the checker takes it.
func (o operation) porcupine() porcupine.Operation {
	return porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(o.end)}
}
