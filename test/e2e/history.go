package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// history collects the events of one spec from all its processes. It is safe for use by
// many goroutines.
type history struct {
	mu     sync.Mutex
	events []event // in order of At
}

// historyOf puts events in order.
func historyOf(events []event) *history {
	h := new(history)
	for _, e := range events {
		h.add(e)
	}
	return h
}

// add inserts an event by its time. Events of one process arrive in order, and those of
// another process only a little later, so add searches from the end.
func (h *history) add(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.events)
	for i > 0 && h.events[i-1].At > e.At {
		i--
	}
	h.events = slices.Insert(h.events, i, e)
}

// all returns what has happened so far, in order.
func (h *history) all() []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// since returns the matching events after an instant, in order.
func (h *history) since(after time.Duration, matches func(event) bool) []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	i, _ := slices.BinarySearchFunc(h.events, after+1, func(e event, at time.Duration) int { return cmp.Compare(e.At, at) })
	var found []event
	for _, e := range h.events[i:] {
		if matches(e) {
			found = append(found, e)
		}
	}
	return found
}

// last returns the latest event that matches.
func (h *history) last(matches func(event) bool) (event, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range slices.Backward(h.events) {
		if matches(e) {
			return e, true
		}
	}
	return event{}, false
}

// String is the whole history in readable form.
func (h *history) String() string { return h.excerpt(0, 0, forever) }

// excerpt is what happened around an instant. Its times count from the first event of
// the whole history.
func (h *history) excerpt(at, before, after time.Duration) string {
	events := h.all()
	if len(events) == 0 {
		return "nothing happened"
	}
	zero := events[0].At
	outside := func(e event) bool { return e.At < at-before || e.At-at > after }
	return format(slices.DeleteFunc(events, outside), zero)
}

// format shows events with times in milliseconds since zero. Each event, or run of
// similar events, takes one line.
func format(events []event, zero time.Duration) string {
	var b strings.Builder
	for _, r := range runs(events) {
		fmt.Fprintf(&b, "%11.3f  %v", milliseconds(r.first.At-zero), r.first)
		if r.count > 1 {
			fmt.Fprintf(&b, " ... x%d until %.3f", r.count, milliseconds(r.last-zero))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// run is a number of similar events.
type run struct {
	first event
	last  time.Duration
	count int
}

// runs joins similar frequent events of one process into one run, which ends at the
// next event that is not frequent.
func runs(events []event) []*run {
	var all []*run
	open := make(map[string]*run) // by what the events of a run have in common
	for _, e := range events {
		common := fmt.Sprint(e.Process, e.Kind, e.Fence, e.Accepted, e.Detail)
		if r := open[common]; r != nil && e.Kind.frequent() {
			r.last, r.count = e.At, r.count+1
			continue
		}
		if !e.Kind.frequent() {
			clear(open)
		}
		r := &run{first: e, last: e.At, count: 1}
		open[common] = r
		all = append(all, r)
	}
	return all
}
