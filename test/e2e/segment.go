package e2e

import "time"

// segment is a part of the register's history that can be judged on its own. It begins
// in a known state and ends with a read during which no other operation was in flight,
// so everything in it is over before the next segment begins.
type segment struct {
	begin      registerState
	operations []operation
}

// segments cuts operations at each read that runs alone. The operations are in order of
// their calls and end with a read.
//
// A write without an answer never ends, so it would be in flight during every later
// read. It goes into the segment in which, by the register, it took effect. That is one
// possible order among others; if it explains the history, some order does.
func segments(all []operation) []segment {
	unanswered, answered := split(all)
	var cut []segment
	var current segment
	var busy time.Duration // when the last of the earlier operations ended
	for i, o := range answered {
		current.operations = append(current.operations, o)
		alone := o.call > busy && (i+1 == len(answered) || answered[i+1].call > o.end)
		if o.reads && alone {
			cut = append(cut, current)
			current = segment{begin: registerState{length: o.index, entry: o.entry}}
		}
		busy = max(busy, o.end)
	}
	for _, o := range unanswered {
		insertUnanswered(cut, o)
	}
	return cut
}

// split separates writes without an answer from everything else.
func split(all []operation) (unanswered, answered []operation) {
	for _, o := range all {
		if o.end == forever {
			unanswered = append(unanswered, o)
		} else {
			answered = append(answered, o)
		}
	}
	return unanswered, answered
}

// insertUnanswered puts a write without an answer into the first segment whose final
// read has seen it.
func insertUnanswered(cut []segment, o operation) {
	for i := range cut {
		operations := cut[i].operations
		if operations[len(operations)-1].index > o.index {
			cut[i].operations = append([]operation{o}, operations...)
			return
		}
	}
}
