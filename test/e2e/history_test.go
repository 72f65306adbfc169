package e2e

import (
	"strings"
	"testing"
	"time"
)

func TestHistoryIsInOrder(t *testing.T) {
	var h history
	for _, ms := range []int{30, 10, 20, 20, 5} {
		h.add(at(ms, "a", renewed, 0))
	}
	events := h.all()
	for i := range events[1:] {
		if events[i].At > events[i+1].At {
			t.Fatalf("%v", events)
		}
	}
}

func TestSinceExcludesTheInstantItself(t *testing.T) {
	h := historyOf([]event{at(10, "a", started, 1), at(20, "a", stopped, 0)})
	any := func(event) bool { return true }
	if got := h.since(at(10, "", "", 0).At, any); len(got) != 1 || got[0].Kind != stopped {
		t.Errorf("since 10 ms: %v, want the stop alone", got)
	}
	if got := h.since(at(20, "", "", 0).At, any); len(got) != 0 {
		t.Errorf("since 20 ms: %v, want nothing", got)
	}
}

func TestLastIsTheLatestThatMatches(t *testing.T) {
	h := historyOf([]event{at(10, "a", started, 1), at(20, "b", started, 2), at(30, "a", stopped, 0)})
	if e, ok := h.last(started.by("")); !ok || e.Process != "b" {
		t.Errorf("last start: %v, %t, want b's", e, ok)
	}
	if e, ok := h.last(started.by("c")); ok {
		t.Errorf("last start of c: %v, want none", e)
	}
}

func TestHistoryJoinsRunsOfSimilarEvents(t *testing.T) {
	var h history
	h.add(at(0, "a", started, 1))
	for ms := range 100 {
		h.add(at(10+ms, "a", wrote, 1))
		h.add(at(10+ms, "b", attempted, 0))
	}
	h.add(at(200, "a", stopped, 0))
	h.add(at(210, "b", attempted, 0))
	text := h.String()
	if lines := strings.Count(text, "\n"); lines != 5 {
		t.Errorf("%d lines, want start, two runs, stop, attempt:\n%s", lines, text)
	}
	if !strings.Contains(text, "x100 until 109.000") {
		t.Errorf("no run of 100:\n%s", text)
	}
}

func TestExcerptKeepsTheTimesOfTheWhole(t *testing.T) {
	var h history
	for _, ms := range []int{0, 100, 200, 300} {
		h.add(at(ms, "a", started, int64(ms)))
	}
	const ms = time.Millisecond
	const want = "    100.000  a      started fence=100\n" +
		"    200.000  a      started fence=200\n"
	if got := h.excerpt(200*ms, 100*ms, 99*ms); got != want {
		t.Errorf("excerpt:\n%s\nwant\n%s", got, want)
	}
}
