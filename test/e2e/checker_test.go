package e2e

import (
	"slices"
	"testing"
	"time"
)

// goodHistory is what the tests corrupt. The process a is frozen past its term, and b
// takes over. Then b is killed, and c takes over. Redis loses the lock of c, and a
// takes over.
func goodHistory() []event {
	return []event{
		at(10, "a", started, 1), write(100, "a", 1, 1, accepted), write(200, "a", 2, 1, accepted), at(500, "a", renewed, 0),
		at(600, "a", frozen, 0),
		at(2000, "b", started, 2), write(2100, "b", 1, 2, accepted),
		at(5000, "a", thawed, 0), at(5010, "a", stopped, 0),
		at(6000, "b", killed, 0), within(6000, recovers, 2000),
		at(7500, "c", started, 3), write(7600, "c", 1, 3, accepted),
		within(8000, lostKey, 700),
		at(8100, "a", started, 4), write(8200, "a", 3, 4, accepted), at(8500, "c", stopped, 0),
		at(9000, "test", fault, 0), within(9500, recovers, 500), at(9800, "a", renewed, 0),
		at(10000, "a", stopped, 0),
	}
}

func goodRegister() []entry {
	return []entry{{1, "a/1"}, {1, "a/2"}, {2, "b/1"}, {3, "c/1"}, {4, "a/3"}}
}

func at(ms int, process string, k kind, fence int64) event {
	return event{At: time.Duration(ms) * time.Millisecond, Process: process, Kind: k, Fence: fence}
}

func within(ms int, k kind, limit int) event {
	e := at(ms, "test", k, 0)
	e.Within = time.Duration(limit) * time.Millisecond
	return e
}

func TestCheckPassesAGoodHistory(t *testing.T) {
	if found := check(goodHistory(), goodRegister()); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

func TestCheckPassesAnEmptyHistory(t *testing.T) {
	if found := check(nil, nil); len(found) != 0 {
		t.Errorf("found %v", found)
	}
}

// corruption is a change to goodHistory that breaks a rule.
type corruption struct {
	name string
	rule rule
	do   func(events []event) []event
}

// drop removes the events of a kind of one process.
func drop(process string, k kind) func([]event) []event {
	return func(events []event) []event { return slices.DeleteFunc(events, k.by(process)) }
}

func insert(added ...event) func([]event) []event {
	return func(events []event) []event { return append(events, added...) }
}

// move gives the first event of a kind of one process another time.
func move(process string, k kind, ms int) func([]event) []event {
	return func(events []event) []event {
		events[slices.IndexFunc(events, k.by(process))].At = time.Duration(ms) * time.Millisecond
		return events
	}
}

// changeToken gives the first term of a process another token.
func changeToken(process string, fence int64) func([]event) []event {
	return func(events []event) []event {
		events[slices.IndexFunc(events, started.by(process))].Fence = fence
		return events
	}
}

var corruptions = []corruption{
	{"the holder was not frozen", ruleOverlap, func(e []event) []event { return drop("a", thawed)(drop("a", frozen)(e)) }},
	{"the next term began before the freeze", ruleOverlap, move("b", started, 590)},
	{"the holder stopped too long after the freeze", ruleOverlap, move("a", stopped, 5251)},
	{"the other candidate was frozen", ruleOverlap, func(e []event) []event {
		for i := range e {
			if e[i].Kind == frozen || e[i].Kind == thawed {
				e[i].Process = "b"
			}
		}
		return e
	}},
	{"the next term began before the kill", ruleOverlap, move("c", started, 5999)},
	{"a third term during another", ruleOverlap, insert(at(9600, "d", started, 5), at(9700, "d", stopped, 0))},
	{"the lock was not lost", ruleOverlap, drop("test", lostKey)},
	{"the next term began before the lock was lost", ruleOverlap, move("test", lostKey, 8200)},
	{"the holder stopped too long after the lock was lost", ruleOverlap, move("c", stopped, 8701)},
	{"a token twice", ruleFence, changeToken("b", 1)},
	{"a lower token", ruleFence, changeToken("c", 1)},
	{"no token", ruleFence, changeToken("a", 0)},
	{"the token of another in a term lost at its start", ruleFence, insert(termLostAtStart(8150, 3)...)},
	{"a lower token in a term that began frozen and went on", ruleFence,
		insert(at(3000, "d", frozen, 0), at(4000, "d", thawed, 0), at(4010, "d", started, 1), at(4251, "d", stopped, 0))},
	{"a write that nobody sent", ruleAtomic, drop("c", wrote)},
	{"no stop", rulePairing, drop("c", stopped)},
	{"no kill and no stop", rulePairing, drop("b", killed)},
	{"one stop too many", rulePairing, insert(at(9990, "c", stopped, 0))},
	{"a stop of a follower", rulePairing, insert(at(100, "d", stopped, 0))},
	{"a stop before the start", rulePairing, move("c", stopped, 7400)},
	{"one start too many", rulePairing, insert(at(7600, "c", started, 3))},
	{"nobody leads after a crash", ruleRecovery, move("c", started, 8001)},
	{"nobody leads after a fault", ruleRecovery, move("test", recovers, 5499)},
	{"no renewal after a fault", ruleRecovery, func(e []event) []event { return e[:len(e)-2] }},
}

func TestCheckFindsEachViolation(t *testing.T) {
	for _, c := range corruptions {
		t.Run(c.name, func(t *testing.T) {
			h := historyOf(c.do(goodHistory()))
			if !found(check(h.all(), goodRegister()), c.rule) {
				t.Errorf("not found: %s, in\n%v", c.rule, h)
			}
		})
	}
}

// termLostAtStart is a term of d in which it sees at once that it has lost the lock.
func termLostAtStart(ms int, fence int64) []event {
	return []event{at(ms, "d", started, fence), at(ms+10, "d", stopped, 0)}
}

func TestCheckAllowsTermsLostAtTheirStart(t *testing.T) {
	for name, more := range map[string][]event{
		"the lock was lost":     termLostAtStart(8150, -1),
		"the holder was frozen": append(termLostAtStart(4950, -1), at(2900, "d", frozen, 0), at(4900, "d", thawed, 0)),
	} {
		t.Run(name, func(t *testing.T) {
			h := historyOf(append(goodHistory(), more...))
			if found := check(h.all(), goodRegister()); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestCheckFindsALateWrite(t *testing.T) {
	register := append(goodRegister(), entry{3, "c/2"}, entry{4, "a/4"}, entry{1, "a/5"})
	violations := check(goodHistory(), register)
	late := slices.DeleteFunc(violations, func(v violation) bool { return v.rule != ruleRegister })
	if len(late) != 2 {
		t.Errorf("found %v, want the two late writes", late)
	}
}

func found(violations []violation, r rule) bool {
	return slices.ContainsFunc(violations, func(v violation) bool { return v.rule == r })
}
