package main

import (
	"fmt"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// criteria are what the demo has to have shown to be of worth.
type criteria struct {
	changes    int // of leader, at least
	rejections int // of writes, at least
}

// judge says what the history and the journal prove.
func judge(terms []term, a account, want criteria) []show.Check {
	changes, rejected := leaderChanges(terms), total(a.rejected)
	return []show.Check{
		noOverlap(terms),
		risingTokens(terms),
		{Holds: a.stale == 0, Text: fmt.Sprintf("stale writes accepted: %d of %d", a.stale, total(a.accepted))},
		{Holds: rejected >= want.rejections, Text: fmt.Sprintf("late writes rejected: %d (at least %d wanted)", rejected, want.rejections)},
		{Holds: changes >= want.changes, Text: fmt.Sprintf("changes of leader: %d (at least %d wanted)", changes, want.changes)},
	}
}

// leaderChanges counts how often another replica took over.
func leaderChanges(terms []term) int {
	n := 0
	for i := 1; i < len(terms); i++ {
		if terms[i].leader != terms[i-1].leader {
			n++
		}
	}
	return n
}

// noOverlap compares each term with all that started later.
func noOverlap(terms []term) show.Check {
	for i, a := range terms {
		if a.open() {
			return show.Check{Text: fmt.Sprintf("the term of %s with fence token %d never ended", a.leader, a.fence)}
		}
		for _, b := range terms[i+1:] {
			if by := a.ended.Sub(b.started); by > 0 {
				return show.Check{Text: fmt.Sprintf("the terms of %s (%d) and %s (%d) overlapped by %v", a.leader, a.fence, b.leader, b.fence, by.Round(time.Microsecond))}
			}
		}
	}
	return show.Check{Holds: true, Text: fmt.Sprintf("no two of the %d terms overlapped", len(terms))}
}

func risingTokens(terms []term) show.Check {
	for i := 1; i < len(terms); i++ {
		if terms[i].fence <= terms[i-1].fence {
			return show.Check{Text: fmt.Sprintf("fence token %d came after %d", terms[i].fence, terms[i-1].fence)}
		}
	}
	return show.Check{Holds: true, Text: "each term had a higher fence token than the one before"}
}
