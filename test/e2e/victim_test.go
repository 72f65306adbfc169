//go:build chaos && unix

package e2e

import (
	"slices"
	"time"
)

// victim is the slot that a fault strikes: its target, or the next one if that has such
// a fault already.
func (a *arena) victim(s step) *slot {
	first := s.target
	if first == theLeader {
		first = max(0, slices.IndexFunc(a.slots, func(s *slot) bool { return s.process.label == a.leading() }))
	}
	for i := range a.slots {
		if v := a.slots[(first+i)%len(a.slots)]; !v.busy[s.place] {
			return v
		}
	}
	a.t.Fatalf("all candidates have faults") // the schedule allows for fewer
	return nil
}

// occupy keeps other faults away from a slot until the end of this one, which heal
// brings.
func (v *slot) occupy(p place, heal func()) func() {
	v.busy[p] = true
	return func() {
		heal()
		v.busy[p] = false
	}
}

// leading is the label of the candidate that was the last to start a term, unless that
// has ended.
func (a *arena) leading() string {
	a.history.mu.Lock()
	defer a.history.mu.Unlock()
	over := make(map[string]bool)
	for _, e := range slices.Backward(a.history.events) {
		switch e.Kind {
		case stopped, killed:
			over[e.Process] = true
		case started:
			if over[e.Process] {
				return ""
			}
			return e.Process
		}
	}
	return ""
}

// ready waits until a candidate has reported something: only then it heeds SIGTERM.
func (a *arena) ready(s *slot) {
	for begin := monotonic(); !s.process.ended() && !a.heard(s.process.label); time.Sleep(time.Millisecond) {
		if monotonic()-begin > patience {
			a.t.Fatalf("%s does not begin", s.process.label)
		}
	}
}

// heard reports whether a candidate has reported something.
func (a *arena) heard(label string) bool {
	a.history.mu.Lock()
	defer a.history.mu.Unlock()
	for _, e := range slices.Backward(a.history.events) {
		if e.Process == label {
			return true
		}
	}
	return false
}
