package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// operation is a write to the guarded register, or a read of it by the test, as seen by
// the process that sent it.
type operation struct {
	process   string
	call, end time.Duration // end is forever if no answer came
	reads     bool
	outcome   outcome // of a write
	entry             // what was written or read
	// index is how many writes the register had accepted at a read. Of a write with an
	// unknown outcome, it is the position of the write in the register.
	index int
}

// outcome is what the sender knows of its write.
type outcome string

const (
	accepted outcome = "accepted"
	rejected outcome = "rejected"
	unknown  outcome = "unknown" // the write may have been applied, and may still be
)

func (o operation) String() string {
	if o.reads {
		return fmt.Sprintf("read of %q with token %d at %d", o.value, o.token, o.index)
	}
	return fmt.Sprintf("write of %q with token %d, %s", o.value, o.token, o.outcome)
}

// operations returns everything that was sent to the register, in order of the calls.
// The last one is a read of what the register holds in the end. A write that the
// register holds and nobody has reported must be that of a process that was killed. Any
// other is a violation.
func operations(events []event, register []entry) ([]operation, []violation) {
	all := reportedOperations(events, register)
	unreported, found := unreportedWrites(events, register)
	all = append(all, unreported...)
	slices.SortStableFunc(all, func(a, b operation) int { return cmp.Compare(a.call, b.call) })
	return append(all, finalRead(events, register)), found
}

// reportedOperations leaves out writes of which the outcome is unknown and that are not
// in the register: they have changed nothing.
func reportedOperations(events []event, register []entry) []operation {
	positions := make(map[string]int)
	for i, e := range register {
		positions[e.value] = i
	}
	var all []operation
	for _, e := range events {
		o := operation{process: e.Process, call: e.Begun, end: e.At, entry: entry{e.Fence, e.Value}}
		switch e.Kind {
		case read:
			o.reads, o.index = true, e.Seq
		case wrote:
			o.outcome = outcomeOf(e)
		default:
			continue
		}
		if o.outcome == unknown {
			position, applied := positions[e.Value]
			if !applied {
				continue
			}
			o.end, o.index = forever, position
		}
		all = append(all, o)
	}
	return all
}

// outcomeOf is the outcome of a write that was reported.
func outcomeOf(e event) outcome {
	switch {
	case e.Detail != "":
		return unknown
	case e.Accepted:
		return accepted
	}
	return rejected
}

// unreportedWrites finds the writes that the register holds and nobody has reported.
func unreportedWrites(events []event, register []entry) (all []operation, found []violation) {
	reported := make(map[string]bool)
	for _, e := range events {
		if e.Kind == wrote {
			reported[e.Value] = true
		}
	}
	for i, e := range register {
		if reported[e.value] {
			continue
		}
		o, err := unreportedWrite(events, e, i)
		if err != nil {
			found = append(found, violation{ruleAtomic, err.Error(), 0})
			continue
		}
		all = append(all, o)
	}
	return all, found
}

// unreportedWrite is the write of a process that was killed before it could report it.
// It was sent after the start of its term.
func unreportedWrite(events []event, e entry, position int) (operation, error) {
	process, _, _ := strings.Cut(e.value, "/")
	start := slices.IndexFunc(events, func(x event) bool { return x.Process == process && x.Kind == started && x.Fence == e.token })
	if start < 0 || !slices.ContainsFunc(events, killed.by(process)) {
		return operation{}, fmt.Errorf("nobody has written %q with token %d", e.value, e.token)
	}
	return operation{process: process, call: events[start].At, end: forever, outcome: unknown, entry: e, index: position}, nil
}

// finalRead is a read of the register when all processes have ended.
func finalRead(events []event, register []entry) operation {
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

// porcupine is the operation in the form that the checker takes.
func (o operation) porcupine() porcupine.Operation {
	return porcupine.Operation{Input: o, Call: int64(o.call), Return: int64(o.end)}
}
