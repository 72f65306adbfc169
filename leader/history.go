package leader

import (
	"sync/atomic"
	"time"
)

// maxHistory is how many of its own ended terms an elector remembers.
const maxHistory = 10

// pastTerm is a term of this candidate that has ended.
type pastTerm struct {
	Fence  int64
	Began  time.Time
	Lasted time.Duration
	Reason EndReason
}

// history is the latest terms of one elector, for the status page. The goroutine of Run
// adds to it; any may read it, and none waits for another.
type history struct{ terms atomic.Pointer[[]pastTerm] }

// add makes a new list: one that was handed out does not change.
func (h *history) add(t pastTerm) {
	terms := append([]pastTerm{t}, h.latest()...)
	terms = terms[:min(len(terms), maxHistory)]
	h.terms.Store(&terms)
}

// latest are the terms, the last one first. Do not modify them.
func (h *history) latest() []pastTerm {
	if terms := h.terms.Load(); terms != nil {
		return *terms
	}
	return nil
}
