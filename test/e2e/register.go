package e2e

import (
	"fmt"
	"time"

	"github.com/anishathalye/porcupine"
)

// searchLimit bounds the search for an order that explains a history. Segments are
// short, so a good history needs far less. When no order exists, the search can be
// long.
const searchLimit = time.Minute

// registerState is the guarded register at one moment: how many writes it has accepted,
// and the last of them, whose token is the highest.
type registerState struct {
	length int
	entry
}

// registerModel says how a register may answer that begins in the given state.
func registerModel(begin registerState) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return begin },
		Step: func(state, input, _ any) (bool, any) {
			fits, next := state.(registerState).step(input.(operation))
			return fits, next
		},
	}
}

// step applies an operation and reports whether its answer fits the state.
func (s registerState) step(o operation) (bool, registerState) {
	if o.reads {
		return s == registerState{o.index, o.entry}, s
	}
	if o.token < s.token {
		return o.outcome != accepted, s
	}
	return o.outcome != rejected, registerState{s.length + 1, o.entry}
}

// linearizability looks for an order of all operations on the register that explains
// every answer and puts each operation between its call and its answer. If it finds no
// order in time, that is a violation too, because nothing has been shown.
func linearizability(events []event, register []entry) []violation {
	all, found := operations(events, register)
	limit := time.Now().Add(searchLimit)
	for _, s := range segments(all) {
		if v, ok := s.judge(time.Until(limit)); !ok {
			found = append(found, v)
		}
	}
	return found
}

// judge looks for an order of the operations of one segment.
func (s segment) judge(within time.Duration) (violation, bool) {
	var operations []porcupine.Operation
	for _, o := range s.operations {
		operations = append(operations, o.porcupine())
	}
	last := s.operations[len(s.operations)-1]
	within = max(within, time.Nanosecond) // 0 would be no limit
	result, info := porcupine.CheckOperationsVerbose(registerModel(s.begin), operations, within)
	switch result {
	case porcupine.Ok:
		return violation{}, true
	case porcupine.Unknown:
		return violation{ruleAtomic, fmt.Sprintf("undecided: %d operations before the %v", len(operations), last), last.call}, false
	}
	o := s.unexplained(info)
	return violation{ruleAtomic, fmt.Sprintf("no order explains the %v", o), o.call}, false
}

// unexplained is the first operation that the longest partial order leaves out.
func (s segment) unexplained(info porcupine.LinearizationInfo) operation {
	var longest []int
	for _, ids := range info.PartialLinearizations()[0] {
		if len(ids) > len(longest) {
			longest = ids
		}
	}
	explained := make(map[int]bool, len(longest))
	for _, id := range longest {
		explained[id] = true
	}
	for i, o := range s.operations {
		if !explained[i] {
			return o
		}
	}
	return s.operations[len(s.operations)-1]
}
