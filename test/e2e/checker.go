package e2e

import (
	"fmt"
	"slices"
	"time"
)

// rule is a promise of the library, as far as a history can show it.
type rule string

const (
	ruleOverlap  rule = "terms of different processes overlap"
	ruleFence    rule = "fencing tokens do not increase"
	rulePairing  rule = "a start does not have exactly one stop"
	ruleRegister rule = "the register accepted a lower token after a higher one"
	ruleAtomic   rule = "the register is not linearizable"
	ruleRecovery rule = "nobody led in time after a fault"
)

// violation says where a history breaks a rule.
type violation struct {
	rule rule
	text string
	at   time.Duration // 0 if not known
}

func (v violation) String() string { return fmt.Sprintf("%s: %s", v.rule, v.text) }

// check compares a whole history, and what the guarded register has accepted, with the
// library's promises.
func check(events []event, register []entry) []violation {
	terms, found := pairing(events)
	allowed := allowedOverlaps(events)
	return slices.Concat(found, overlaps(terms, allowed), fencing(terms, allowed), regressions(register),
		linearizability(events, register), recovery(events))
}

// overlaps reports pairs of terms that overlap where that is not allowed. The holder is
// the one that began first: its term should have ended, so the allowance has to be for
// its process.
func overlaps(terms []term, allowed []allowedOverlap) []violation {
	var found []violation
	for i, holder := range terms {
		for _, next := range terms[i+1:] {
			from, to := next.start, min(holder.end, next.end)
			if next.process == holder.process || from >= to {
				continue
			}
			if !covered(allowed, holder.process, from, to) && !lostAtStart(next, allowed) {
				found = append(found, violation{ruleOverlap, fmt.Sprintf("%v and %v, for %v", holder, next, to-from), from})
			}
		}
	}
	return found
}

// fencing reports terms whose token is not higher than those of all earlier terms. Only
// a term that was lost at its start may have a lower token, and even that may not have
// the token of another term.
func fencing(terms []term, allowed []allowedOverlap) []violation {
	var found []violation
	var highest term
	seen := make(map[int64]bool)
	for _, t := range terms {
		if seen[t.fence] || t.fence <= highest.fence && !lostAtStart(t, allowed) {
			found = append(found, violation{ruleFence, fmt.Sprintf("%v comes after %v", t, highest), t.start})
		}
		seen[t.fence] = true
		if t.fence > highest.fence {
			highest = t
		}
	}
	return found
}

// entry is a write that a register has accepted.
type entry struct {
	token int64
	value string
}

// regressions reports writes that a register accepted after one with a higher token.
func regressions(register []entry) []violation {
	var found []violation
	var highest entry
	for _, e := range register {
		if e.token < highest.token {
			text := fmt.Sprintf("%q with token %d came after %q with %d", e.value, e.token, highest.value, highest.token)
			found = append(found, violation{ruleRegister, text, 0})
			continue
		}
		highest = e
	}
	return found
}

// recovery reports faults after which nobody led in time. A start or a renewal shows
// that somebody leads. A term without a renewal shows nothing: its lease may have run
// out already.
func recovery(events []event) []violation {
	var found []violation
	for i, e := range events {
		if e.Kind != recovers {
			continue
		}
		leads := slices.ContainsFunc(events[i:], func(later event) bool {
			return (later.Kind == started || later.Kind == renewed) && later.At <= e.At+e.Within
		})
		if !leads {
			found = append(found, violation{ruleRecovery, fmt.Sprintf("within %v %s", e.Within, e.Detail), e.At})
		}
	}
	return found
}
