package main

import (
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// at is an instant of a recorded history.
func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// recorded is a history as a good demo leaves it: a hand-over, a crash, and a freeze
// after which the work still reports.
func recorded() *history {
	h := &history{}
	h.begin("replica-1", 101, at(0))
	h.expect(101, endHandOver)
	h.stop(101, at(2), "terminated signal received")
	h.begin("replica-2", 102, at(2.1))
	h.strike(102, at(4), endCrash)
	h.exit("replica-2", at(4.01))
	h.begin("replica-3", 103, at(5.5))
	h.strike(103, at(7), endFreeze)
	h.begin("replica-1", 104, at(8.5))
	h.stop(103, at(9), "leader: not renewed by the deadline")
	h.expect(104, endOfDemo)
	h.stop(104, at(10), "terminated signal received")
	return h
}

func recordedJournal() []write {
	return []write{{101, true}, {101, true}, {102, true}, {103, true}, {104, true}, {103, false}, {104, true}}
}

var allScenes = criteria{changes: 3, rejections: 1}

func TestVerdictOfAGoodDemo(t *testing.T) {
	t.Parallel()
	if err := show.Failure(judge(recorded().all(), audit(recordedJournal()), allScenes)); err != nil {
		t.Error(err)
	}
}

func TestFailingVerdicts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		history func(*history)
		journal func([]write) []write
		want    string
	}{
		"stale write": {
			journal: func(w []write) []write { return append(w, write{103, true}) },
			want:    "stale writes accepted: 1 of 7",
		},
		"nothing rejected": {
			journal: func(w []write) []write { return append(w[:5:5], w[6]) },
			want:    "late writes rejected: 0 (at least 1 wanted)",
		},
		"overlap with the next term": {
			history: func(h *history) { h.terms[0].ended = at(2.2) },
			want:    "the terms of replica-1 (101) and replica-2 (102) overlapped by 100ms",
		},
		"overlap with a later term": {
			history: func(h *history) { h.terms[0].ended = at(5.6) },
			want:    "overlapped by",
		},
		"term without an end": {
			history: func(h *history) { h.terms[3].ended = time.Time{} },
			want:    "the term of replica-1 with fence token 104 never ended",
		},
		"token goes back": {
			history: func(h *history) { h.terms[2].fence = 100 },
			want:    "fence token 100 came after 102",
		},
		"same token twice": {
			history: func(h *history) { h.terms[1].fence = 101 },
			want:    "fence token 101 came after 101",
		},
		"too few changes": {
			history: func(h *history) { h.terms = h.terms[:3] },
			want:    "changes of leader: 2 (at least 3 wanted)",
		},
		"re-election is no change": {
			history: func(h *history) { h.terms[3].leader = "replica-3" },
			want:    "changes of leader: 2 (at least 3 wanted)",
		},
		"nobody ever led": {
			history: func(h *history) { h.terms = nil },
			want:    "changes of leader: 0 (at least 3 wanted)",
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, journal := recorded(), recordedJournal()
			if c.history != nil {
				c.history(h)
			}
			if c.journal != nil {
				journal = c.journal(journal)
			}
			checks := judge(h.all(), audit(journal), allScenes)
			err := show.Failure(checks)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("failure is %v, want %q", err, c.want)
			}
			var out strings.Builder
			show.PrintVerdict(&out, show.Palette{}, checks, "it works.")
			if !strings.Contains(out.String(), "FAIL  ") || !strings.Contains(out.String(), "FAILED") || strings.Contains(out.String(), "PASSED") {
				t.Errorf("printed:\n%s", out.String())
			}
		})
	}
}

func TestHistory(t *testing.T) {
	t.Parallel()
	h := &history{}
	if _, ok := h.current(); ok {
		t.Error("somebody leads before anybody did")
	}
	h.begin("b", 2, at(3)) // heard of first, although it started later
	h.begin("a", 1, at(1))
	h.strike(1, at(2), endFreeze)
	h.stop(1, at(5), "late") // what a frozen process says later does not move the end of its term
	h.strike(1, at(6), endCrash)
	first, ok := h.before(2)
	if !ok || first.leader != "a" || !first.ended.Equal(at(2)) || first.why != endFreeze || !first.stopped {
		t.Errorf("first term: %+v", first)
	}
	if current, ok := h.current(); !ok || current.leader != "b" {
		t.Errorf("current term: %+v", current)
	}
	h.exit("b", at(7))
	if last := h.all()[1]; !last.ended.Equal(at(7)) || last.why != endUnknown || h.hasStopped(2) {
		t.Errorf("term of a process that vanished: %+v", last)
	}
}
