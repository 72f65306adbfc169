package e2e

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

// write is one of a process that took 10 ms.
func write(ms int, process string, seq int, token int64, o outcome) event {
	return writeFor(ms, 10, process, seq, token, o)
}

// writeFor is one that took some time.
func writeFor(ms, took int, process string, seq int, token int64, o outcome) event {
	e := at(ms+took, process, wrote, token)
	e.Begun = time.Duration(ms) * time.Millisecond
	e.Seq, e.Value, e.Accepted = seq, fmt.Sprint(process, "/", seq), o == accepted
	if o == unknown {
		e.Detail = "timeout"
	}
	return e
}

// reading is one of the test that took 10 ms.
func reading(ms, length int, token int64, value string) event {
	e := at(ms+10, "test", read, token)
	e.Begun = time.Duration(ms) * time.Millisecond
	e.Seq, e.Value = length, value
	return e
}

// story is a history of the register.
type story struct {
	name     string
	events   []event
	register []entry
}

var goodStories = []story{
	{"nothing", nil, nil},
	{"an empty register is read", []event{reading(0, 0, 0, "")}, nil},
	{"a late write is rejected",
		[]event{write(0, "a", 1, 1, accepted), write(20, "b", 1, 2, accepted), write(40, "a", 2, 1, rejected), reading(60, 2, 2, "b/1")},
		[]entry{{1, "a/1"}, {2, "b/1"}}},
	{"of two at a time either may be first",
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
	{"a process was killed before it could tell",
		[]event{at(0, "a", started, 1), write(10, "a", 1, 1, accepted), at(30, "a", killed, 0), reading(40, 2, 1, "a/2")},
		[]entry{{1, "a/1"}, {1, "a/2"}}},
}

var badStories = []story{
	{"a lower token is accepted after a higher one",
		[]event{write(0, "b", 1, 2, accepted), write(20, "a", 1, 1, accepted)},
		[]entry{{2, "b/1"}, {1, "a/1"}}},
	{"and the register does not tell",
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
	{"a read sees a token that is not the value's",
		[]event{write(0, "a", 1, 1, accepted), reading(20, 1, 2, "a/1")},
		[]entry{{1, "a/1"}}},
	{"two reads see two writes in different orders",
		[]event{writeFor(0, 100, "a", 1, 1, accepted), writeFor(0, 100, "a", 2, 1, accepted), reading(20, 1, 1, "a/1"), reading(40, 1, 1, "a/2")},
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

func judged(s story) []violation {
	var h history
	for _, e := range s.events {
		h.add(e)
	}
	return linearizability(h.all(), s.register)
}

func TestLinearizableHistoriesPass(t *testing.T) {
	for _, s := range goodStories {
		t.Run(s.name, func(t *testing.T) {
			if found := judged(s); len(found) != 0 {
				t.Errorf("found %v", found)
			}
		})
	}
}

func TestOtherHistoriesDoNot(t *testing.T) {
	for _, s := range badStories {
		t.Run(s.name, func(t *testing.T) {
			if !found(judged(s), ruleAtomic) {
				t.Error("not found")
			}
		})
	}
}

// longStory is that of two writers, one of them always late, for so many rounds, with a
// read in each.
func longStory(rounds int) story {
	s := story{name: "long"}
	for i := range rounds {
		ms, token := 100*i, int64(2+i/100)
		written := entry{token, fmt.Sprint("a/", i+1)}
		s.register = append(s.register, written)
		s.events = append(s.events,
			writeFor(ms, 30, "a", i+1, token, accepted),
			writeFor(ms+10, 30, "b", i+1, 1, rejected),
			reading(ms+50, len(s.register), token, written.value))
	}
	return s
}

func TestLongHistoriesAreDecidedQuickly(t *testing.T) {
	s := longStory(20_000)
	begin := time.Now()
	if found := judged(s); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	if took := time.Since(begin); took > judgement/4 {
		t.Errorf("%d operations took %v", len(s.events), took)
	}
}

func TestOneBadAnswerIsFoundInALongHistory(t *testing.T) {
	s := longStory(1000)
	s.events[3*700+1].Accepted = true
	violations := judged(s)
	if len(violations) != 1 || violations[0].at != s.events[3*700+1].Begun {
		t.Errorf("found %v, want the one at %v", violations, s.events[3*700+1].Begun)
	}
}

func TestUndecidedIsAViolation(t *testing.T) {
	var s segment
	for i := range 25 { // all at a time, and none can be what the read saw
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
	s := story{events: []event{
		write(0, "a", 1, 1, accepted), reading(20, 1, 1, "a/1"), // alone
		writeFor(40, 50, "a", 2, 1, accepted), reading(50, 1, 1, "a/1"), // under way
		write(100, "a", 3, 1, accepted), write(120, "a", 4, 1, unknown), reading(140, 4, 1, "a/4"), // alone but for the one without an answer
	}, register: []entry{{1, "a/1"}, {1, "a/2"}, {1, "a/3"}, {1, "a/4"}}}
	var h history
	for _, e := range s.events {
		h.add(e)
	}
	all, _ := operations(h.all(), s.register)
	var lengths []int
	for _, cut := range segments(all) {
		lengths = append(lengths, len(cut.operations))
	}
	if want := []int{2, 5, 1}; !slices.Equal(lengths, want) {
		t.Errorf("segments of %v operations, want %v", lengths, want)
	}
}
