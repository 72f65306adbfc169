package e2e

import "time"

// segment is a stretch of a history of the register that can be judged by itself: it
// begins in a known state and ends with a read during which nothing else was under way,
// so that whatever is in it is over before the next segment begins.
type segment struct {
	begin      registerState
	operations []operation
}

// segments cuts operations, which are in order of their calls and end with a read, at
// each read that is alone. Writes without an answer would be under way for ever; they
// go where the register says that they took effect. That is a choice of one possible
// order among others: if it fits, there is one that fits.
func segments(all []operation) []segment {
	open, answered := split(all)
	var cut []segment
	var current segment
	var busy time.Duration // until when something that came before was under way
	for i, o := range answered {
		current.operations = append(current.operations, o)
		alone := o.call > busy && (i+1 == len(answered) || answered[i+1].call > o.end)
		if o.reads && alone {
			cut = append(cut, current)
			current = segment{begin: registerState{length: o.index, entry: o.entry}}
		}
		busy = max(busy, o.end)
	}
	for _, o := range open {
		insertOpen(cut, o)
	}
	return cut
}

// split tells writes without an answer from the rest.
func split(all []operation) (open, answered []operation) {
	for _, o := range all {
		if o.end == forever {
			open = append(open, o)
		} else {
			answered = append(answered, o)
		}
	}
	return open, answered
}

// insertOpen puts a write without an answer into the segment whose last read is the
// first to have seen it.
func insertOpen(cut []segment, o operation) {
	for i := range cut {
		operations := cut[i].operations
		if operations[len(operations)-1].index > o.index {
			cut[i].operations = append([]operation{o}, operations...)
			return
		}
	}
}
