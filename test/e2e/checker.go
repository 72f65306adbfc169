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
	ruleFence    rule = "fencing tokens do not rise"
	rulePairing  rule = "a start has not exactly one stop"
	ruleRegister rule = "the register went back to a lower token"
	ruleAtomic   rule = "the register is not linearizable"
	ruleRecovery rule = "nobody led in time after a fault"
)

// violation says where a history breaks a rule.
type violation struct {
	rule rule
	text string
	at   time.Duration // 0: not known
}

func (v violation) String() string { return fmt.Sprintf("%s: %s", v.rule, v.text) }

// check compares a whole history, and what the guarded register has accepted, with the
// promises.
func check(events []event, register []entry) []violation {
	terms, found := pairing(events)
	excused := excuses(events)
	return slices.Concat(found, overlaps(terms, excused), fencing(terms, excused), regressions(register),
		linearizability(events, register), recovery(events))
}

// overlaps reports pairs of terms that share a time which is not excused. The holder,
// who is to be excused, is the one that began first: it is its term that should have
// ended.
func overlaps(terms []term, excused []excuse) []violation {
	var found []violation
	for i, holder := range terms {
		for _, next := range terms[i+1:] {
			from, to := next.start, min(holder.end, next.end)
			if next.process == holder.process || from >= to {
				continue
			}
			if !covered(excused, holder.process, from, to) && !stillborn(next, excused) {
				found = append(found, violation{ruleOverlap, fmt.Sprintf("%v and %v, for %v", holder, next, to-from), from})
			}
		}
	}
	return found
}

// fencing reports terms whose token is not higher than those of all before. Only a
// stillborn term may come after one with a higher token, never after one with the same.
func fencing(terms []term, excused []excuse) []violation {
	var found []violation
	var highest term
	seen := make(map[int64]bool)
	for _, t := range terms {
		if seen[t.fence] || t.fence <= highest.fence && !stillborn(t, excused) {
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
			found = append(found, violation{ruleRegister, fmt.Sprintf("%q with token %d came after %q with %d", e.value, e.token, highest.value, highest.token), 0})
			continue
		}
		highest = e
	}
	return found
}

// recovery reports faults after which nobody led in time. That somebody leads shows in
// a start, or in a renewal: a term that goes on without one may be over in all but
// name.
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
