package main

import (
	"fmt"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// criteria are what the demo has to have shown to be of worth.
type criteria struct {
	changes int // of leader, at least
}

// judge says what the books prove about the slots up to last.
func judge(b books, last int64, want criteria, reigns []show.Reign) []show.Check {
	job, forgetful, repeating := count(b.claimed, last), count(b.forgetful, last), count(b.repeating, last)
	changes := max(len(reigns)-1, 0)
	return []show.Check{
		{Holds: job.exact(), Text: fmt.Sprintf("slots run exactly once: %d of %d", job.once, last+1)},
		inOrder(b.claimed),
		{Holds: forgetful.never > 0, Text: fmt.Sprintf("slots missed by the control that begins with the slot that is due: %d (some wanted)", forgetful.never)},
		{Holds: repeating.more > 0, Text: fmt.Sprintf("slots doubled by the control that goes on after the last slot it remembers: %d (some wanted)", repeating.more)},
		{Holds: changes >= want.changes, Text: fmt.Sprintf("hand-overs to a new term: %d (at least %d wanted)", changes, want.changes)},
	}
}

// inOrder: catching up comes before what is due now, and no leader runs a slot after a
// later one did.
func inOrder(entries []entry) show.Check {
	for i := 1; i < len(entries); i++ {
		before, after := entries[i-1], entries[i]
		if after.slot <= before.slot || after.fence < before.fence {
			return show.Check{Text: fmt.Sprintf("slot %d (fence token %d) was run after slot %d (%d)", after.slot, after.fence, before.slot, before.fence)}
		}
	}
	return show.Check{Holds: true, Text: "slots ran in order, with fence tokens that never fell"}
}
