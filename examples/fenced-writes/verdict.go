package main

import (
	"fmt"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// criteria are what the demo has to have shown to be of worth.
type criteria struct {
	late int // writes, at least
}

// wanted is what the scenes are to show on this system.
func wanted() criteria {
	if show.CanFreeze {
		return criteria{late: 1}
	}
	return criteria{}
}

// proves is what it proves if they do.
func proves() string {
	if show.CanFreeze {
		return "a late write was rejected where there is a guard, and did its harm where there is none."
	}
	return "nothing late was accepted; but there was nothing late, as this system cannot freeze a process."
}

// judge says what the books prove.
func judge(b books, rejected map[int64]int, want criteria) []show.Check {
	accepted, late := total(b.guarded.sent), total(b.guarded.late)
	harm := total(b.unguarded.late)
	return []show.Check{
		{Holds: late == 0 && accepted > 0, Text: fmt.Sprintf("late writes accepted by the guarded table: %d of %d", late, accepted)},
		{Holds: b.guarded.doubled == 0, Text: fmt.Sprintf("invoices sent twice by the guarded table: %d", b.guarded.doubled)},
		{Holds: total(rejected) >= want.late, Text: fmt.Sprintf("late writes rejected and rolled back: %d (at least %d wanted)", total(rejected), want.late)},
		{Holds: harm >= want.late, Text: fmt.Sprintf("late writes accepted by the unguarded table: %d (at least %d wanted)", harm, want.late)},
		{Holds: b.unguarded.doubled >= want.late, Text: fmt.Sprintf("invoices sent twice by the unguarded table: %d (at least %d wanted)", b.unguarded.doubled, want.late)},
	}
}
