package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// write is a write of a process, which took 10 ms.
func write(ms int, process string, seq int, token int64, o outcome) event {
	return writeFor(ms, 10, process, seq, token, o)
}

// writeFor is a write that took the given number of milliseconds.
func writeFor(ms, took int, process string, seq int, token int64, o outcome) event {
	e := at(ms+took, process, wrote, token)
	e.Begun = time.Duration(ms) * time.Millisecond
	e.Seq, e.Value, e.Accepted = seq, fmt.Sprint(process, "/", seq), o == accepted
	if o == unknown {
		e.Detail = "timeout"
	}
	return e
}

// reading is a read by the test, which took 10 ms.
func reading(ms, length int, token int64, value string) event {
	e := at(ms+10, "test", read, token)
	e.Begun = time.Duration(ms) * time.Millisecond
	e.Seq, e.Value = length, value
	return e
}

// registerCase is a history of the register, and what it holds in the end.
type registerCase struct {
	name     string
	events   []event
	register []entry
}

var linearizable = []registerCase{
	{"nothing", nil, nil},
	{"an empty register is read", []event{reading(0, 0, 0, "")}, nil},
	{"a late write is rejected",
		[]event{write(0, "a", 1, 1, accepted), write(20, "b", 1, 2, accepted), write(40, "a", 2, 1, rejected), reading(60, 2, 2, "b/1")},
		[]entry{{1, "a/1"}, {2, "b/1"}}},
	{"either of two concurrent writes may come first",
		[]event{writeFor(0, 50, "a", 1, 1, accepted), writeFor(10, 20, "b", 1, 2, accepted), reading(100, 2, 2, "b/1")},
		[]entry{{1, "a/1"}, {2, "b/1"}}},
	{"a read during a write may see it or not",
		[]event{writeFor(0, 100, "a", 1, 1, accepted), reading(10, 0, 0, ""), reading(50, 1, 1, "a/1")},
		[]entry{{1, "a/1"}}},
	{"a write without an answer was applied, much later",
		[]event{write(0, "a", 1, 1, unknown), reading(100, 0, 0, ""), write(200, "a", 2, 1, accepted), reading(300, 2, 1, "a/1")},
		[]entry{{1, "a/2"}, {1, "a/1"}}},
	{"a write without an answer was lost",
		[]event{write(0, "a", 1, 1, unknown), write(20, "a", 2, 1, accepted), reading(40, 1, 1, "a/2")},
		[]entry{{1, "a/2"}}},
	{"a write without an answer was rejected",
		[]event{write(0, "b", 1, 2, accepted), write(20, "a", 1, 1, unknown), reading(40, 1, 2, "b/1")},
		[]entry{{2, "b/1"}}},
	{"a process was killed before it could report its write",
		[]event{at(0, "a", started, 1), write(10, "a", 1, 1, accepted), at(30, "a", killed, 0), reading(40, 2, 1, "a/2")},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
}

var notLinearizable = []registerCase{
	{"a lower token is accepted after a higher one",
		[]event{write(0, "b", 1, 2, accepted), write(20, "a", 1, 1, accepted)},
		[]entry{{2, "b/1"}, {1, "a/1"}}},
	{"the same, and the register does not show it",
		[]event{write(0, "b", 1, 2, accepted), write(20, "a", 1, 1, accepted)},
		[]entry{{1, "a/1"}, {2, "b/1"}}},
	{"a higher token is rejected",
		[]event{write(0, "a", 1, 1, accepted), write(20, "b", 1, 2, rejected)},
		[]entry{{1, "a/1"}}},
	{"an equal token is rejected",
		[]event{write(0, "a", 1, 1, accepted), write(20, "a", 2, 1, rejected)},
		[]entry{{1, "a/1"}}},
	{"a write that was accepted is lost",
		[]event{write(0, "a", 1, 1, accepted), write(20, "a", 2, 1, accepted)},
		[]entry{{1, "a/2"}}},
	{"a write that was rejected is applied",
		[]event{write(0, "b", 1, 2, accepted), write(20, "a", 1, 1, rejected)},
		[]entry{{2, "b/1"}, {1, "a/1"}}},
	{"a write is applied twice",
		[]event{write(0, "a", 1, 1, accepted), write(20, "a", 2, 1, accepted)},
		[]entry{{1, "a/1"}, {1, "a/2"}, {1, "a/2"}}},
	{"a read sees the past",
		[]event{write(0, "a", 1, 1, accepted), write(20, "a", 2, 1, accepted), reading(40, 1, 1, "a/1")},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
	{"a read sees the future",
		[]event{reading(0, 1, 1, "a/1"), write(20, "a", 1, 1, accepted)},
		[]entry{{1, "a/1"}}},
	{"a read sees the token of another value",
		[]event{write(0, "a", 1, 1, accepted), reading(20, 1, 2, "a/1")},
		[]entry{{1, "a/1"}}},
	{"two reads see two writes in different orders",
		[]event{writeFor(0, 100, "a", 1, 1, accepted), writeFor(0, 100, "a", 2, 1, accepted),
			reading(20, 1, 1, "a/1"), reading(40, 1, 1, "a/2")},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
	{"a write without an answer is applied before it was sent",
		[]event{write(0, "a", 1, 1, accepted), reading(20, 2, 1, "a/2"), write(40, "a", 2, 1, unknown)},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
	{"a write without an answer is accepted below a higher token",
		[]event{write(0, "b", 1, 2, accepted), reading(20, 1, 2, "b/1"), write(40, "a", 1, 1, unknown), reading(60, 2, 1, "a/1")},
		[]entry{{2, "b/1"}, {1, "a/1"}}},
	{"nobody has sent a write",
		[]event{at(0, "a", started, 1), write(10, "a", 1, 1, accepted)},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
	{"nobody has sent a write with that token",
		[]event{at(0, "a", started, 1), at(30, "a", killed, 0)},
		[]entry{{2, "a/1"}}},
}

func (c registerCase) violations() []violation {
	return linearizability(historyOf(c.events).all(), c.register)
}

func TestLinearizableHistoriesPass(t *testing.T) {
	for _, c := range linearizable {
		t.Run(c.name, func(t *testing.T) {
			if found := c.violations(); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestOtherHistoriesFail(t *testing.T) {
	for _, c := range notLinearizable {
		t.Run(c.name, func(t *testing.T) {
			if !found(c.violations(), ruleAtomic) {
				t.Error("not found")
			}
		})
	}
}

// longCase is a history of two writers, one of which is always late. Each round has a
// write of both and a read.
func longCase(rounds int) registerCase {
	var c registerCase
	for i := range rounds {
		ms, token := 100*i, int64(2+i/100)
		written := entry{token, fmt.Sprint("a/", i+1)}
		c.register = append(c.register, written)
		c.events = append(c.events,
			writeFor(ms, 30, "a", i+1, token, accepted),
			writeFor(ms+10, 30, "b", i+1, 1, rejected),
			reading(ms+50, len(c.register), token, written.value))
	}
	return c
}

func TestLongHistoriesAreDecidedQuickly(t *testing.T) {
	c := longCase(20_000)
	begin := time.Now()
	if found := c.violations(); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	if took := time.Since(begin); took > searchLimit/4 {
		t.Errorf("%d operations took %v", len(c.events), took)
	}
}

func TestOneBadAnswerIsFoundInALongHistory(t *testing.T) {
	c := longCase(1000)
	bad := &c.events[3*700+1]
	bad.Accepted = true
	violations := c.violations()
	if len(violations) != 1 || violations[0].at != bad.Begun {
		t.Errorf("found %v, want the one at %v", violations, bad.Begun)
	}
}

func TestUndecidedIsAViolation(t *testing.T) {
	var s segment
	for i := range 25 { // all concurrent, and none of them wrote what the read saw
		s.operations = append(s.operations, operation{call: 1, end: 10, outcome: accepted, entry: entry{1, fmt.Sprint(i)}})
	}
	s.operations = append(s.operations, operation{call: 20, end: 21, reads: true, index: 25, entry: entry{1, "other"}})
	v, ok := s.judge(time.Millisecond)
	if ok || v.rule != ruleAtomic || v.text[:len("undecided")] != "undecided" {
		t.Errorf("judge = %v, %t", v, ok)
	}
}

func TestModelKeepsTheValueOfARejectedWrite(t *testing.T) {
	var model porcupine.Model = registerModel(registerState{1, entry{5, "x"}})
	ok, next := model.Step(model.Init(), operation{outcome: rejected, entry: entry{4, "y"}}, nil)
	if !ok || next != any(registerState{1, entry{5, "x"}}) {
		t.Errorf("step = %t, %v", ok, next)
	}
}

func TestSegmentsEndAtReadsThatAreAlone(t *testing.T) {
	h := historyOf([]event{
		// A read that is alone.
		write(0, "a", 1, 1, accepted), reading(20, 1, 1, "a/1"),
		// A read during a write.
		writeFor(40, 50, "a", 2, 1, accepted), reading(50, 1, 1, "a/1"),
		// A read that is alone except for a write without an answer.
		write(100, "a", 3, 1, accepted), write(120, "a", 4, 1, unknown), reading(140, 4, 1, "a/4"),
	})
	all, _ := operations(h.all(), []entry{{1, "a/1"}, {1, "a/2"}, {1, "a/3"}, {1, "a/4"}})
	var lengths []int
	for _, cut := range segments(all) {
		lengths = append(lengths, len(cut.operations))
	}
	if want := []int{2, 5, 1}; !slices.Equal(lengths, want) {
		t.Errorf("segments of %v operations, want %v", lengths, want)
	}
}
