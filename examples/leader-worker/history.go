package main

import (
	"slices"
	"sync"
	"time"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// Why a term ended, if the demo was the reason.
const (
	endHandOver = "graceful hand-over (" + show.Politely + ")"
	endCrash    = "crash (SIGKILL)"
	endFreeze   = "frozen beyond its lease (SIGSTOP)"
	endOfDemo   = "end of the demo"
	endUnknown  = "unknown"
)

// term is one term as seen from outside.
type term struct {
	leader  string
	fence   int64
	started time.Time
	ended   time.Time // of its work, or of its process being struck; zero while it goes on
	stopped bool      // its work has said that it ended
	why     string
}

func (t term) open() bool { return t.ended.IsZero() }

// history is what is known of all terms. The end of a term is what its own replica
// reported, except where that replica was in no state to do anything more: a killed or
// frozen process has ended its term at the signal, whatever it believes.
type history struct {
	mu    sync.Mutex
	terms []term // in the order of their start
}

// begin notes the start of a term.
func (h *history) begin(leader string, fence int64, at time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.terms = append(h.terms, term{leader: leader, fence: fence, started: at})
	slices.SortStableFunc(h.terms, func(a, b term) int { return a.started.Compare(b.started) })
}

// expect notes what will have been the reason when a term ends.
func (h *history) expect(fence int64, why string) {
	h.update(func(t term) bool { return t.fence == fence }, func(t *term) { t.why = why })
}

// strike notes that the process of a leader was killed or frozen.
func (h *history) strike(fence int64, at time.Time, why string) {
	h.update(func(t term) bool { return t.fence == fence && t.open() }, func(t *term) { t.ended, t.why = at, why })
}

// stop notes that the work of a term has ended, and why in its own words.
func (h *history) stop(fence int64, at time.Time, cause string) {
	h.update(func(t term) bool { return t.fence == fence }, func(t *term) {
		t.stopped = true
		if t.why == "" {
			t.why = cause
		}
		if t.open() {
			t.ended = at
		}
	})
}

// exit notes that the process of a replica has ended, and with it the terms that it had
// not reported the end of.
func (h *history) exit(leader string, at time.Time) {
	h.update(func(t term) bool { return t.leader == leader && t.open() }, func(t *term) {
		t.ended = at
		if t.why == "" {
			t.why = endUnknown
		}
	})
}

func (h *history) update(match func(term) bool, change func(*term)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for i := range h.terms {
		if match(h.terms[i]) {
			change(&h.terms[i])
		}
	}
}

// current is the newest term, if it goes on.
func (h *history) current() (term, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.terms) == 0 {
		return term{}, false
	}
	last := h.terms[len(h.terms)-1]
	return last, last.open()
}

// hasStopped reports whether the work of a term has ended.
func (h *history) hasStopped(fence int64) bool {
	return slices.ContainsFunc(h.all(), func(t term) bool { return t.fence == fence && t.stopped })
}

// before is the term that came before the one with this token.
func (h *history) before(fence int64) (term, bool) {
	terms := h.all()
	i := slices.IndexFunc(terms, func(t term) bool { return t.fence == fence })
	if i < 1 {
		return term{}, false
	}
	return terms[i-1], true
}

// all is a copy of the terms in the order of their start.
func (h *history) all() []term {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.terms)
}
