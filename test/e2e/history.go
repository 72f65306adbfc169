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

// add puts the event where it belongs. Events of one process arrive in order, those of
// others only a little later.
func (h *history) add(e event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := len(h.events)
	for i > 0 && h.events[i-1].At > e.At {
		i--
	}
	h.events = slices.Insert(h.events, i, e)
}

// all is what has happened so far, in order.
func (h *history) all() []event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// since is what has happened after an instant and matches, in order.
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

// String is the history for people to read.
func (h *history) String() string {
	events := h.all()
	if len(events) == 0 {
		return "nothing happened"
	}
	return narrate(events, events[0].At)
}

// excerpt is what happened around an instant.
func (h *history) excerpt(at, before, after time.Duration) string {
	events := h.all()
	if len(events) == 0 {
		return "nothing happened"
	}
	around := slices.DeleteFunc(slices.Clone(events), func(e event) bool { return e.At < at-before || e.At > at+after })
	return narrate(around, events[0].At)
}

// narrate shows events with times in milliseconds since zero, one line for each event
// or run of like ones.
func narrate(events []event, zero time.Duration) string {
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

// run is a number of like events.
type run struct {
	first event
	last  time.Duration
	count int
}

// runs joins frequent events of one process that nothing noteworthy interrupts.
func runs(events []event) []*run {
	var all []*run
	open := make(map[string]*run) // by what is the same in a run
	for _, e := range events {
		like := fmt.Sprint(e.Process, e.Kind, e.Fence, e.Accepted, e.Detail)
		if r := open[like]; r != nil && e.Kind.frequent() {
			r.last, r.count = e.At, r.count+1
			continue
		}
		if !e.Kind.frequent() {
			clear(open)
		}
		r := &run{first: e, last: e.At, count: 1}
		open[like] = r
		all = append(all, r)
	}
	return all
}
