package e2e

import (
	"fmt"
	"strings"
	"time"
)

// event is something that happened to a candidate, or that the test did to one.
//
// At is a reading of CLOCK_MONOTONIC. All processes of one machine read the same clock,
// so events of different processes can be put in order by it; wall clocks could be set
// in between.
type event struct {
	At       time.Duration `json:"at"`
	Process  string        `json:"process,omitempty"` // the label of the candidate; "" is the test
	Kind     kind          `json:"kind"`
	Fence    int64         `json:"fence,omitempty"`
	Detail   string        `json:"detail,omitempty"`
	Seq      int           `json:"seq,omitempty"`      // of a write: counts those of its process; of a read: how many the register has accepted
	Begun    time.Duration `json:"begun,omitempty"`    // of a write or read: when it was about to be sent; At is when it was answered
	Value    string        `json:"value,omitempty"`    // of a write or read
	Accepted bool          `json:"accepted,omitempty"` // of a write
	Count    counts        `json:"count,omitzero"`     // of counted
	Within   time.Duration `json:"within,omitempty"`   // of recovers, lostKey and promoted
}

// counts is what a candidate uses.
type counts struct {
	Goroutines  int
	Connections int
}

type kind string

// What candidates report.
const (
	started   kind = "started"   // OnStartedLeading was called
	cancelled kind = "cancelled" // the work saw its end; Detail is the cause
	returned  kind = "returned"  // OnStartedLeading is about to return
	stopped   kind = "stopped"   // OnStoppedLeading was called
	ended     kind = "ended"     // the elector no longer leads; Detail is the reason
	attempted kind = "attempted" // an attempt to obtain the lock; Detail is the result
	renewed   kind = "renewed"   // the lease was renewed
	unrenewed kind = "unrenewed" // an attempt to renew it failed; Detail is the error
	newLeader kind = "newLeader" // OnNewLeader was called; Detail is the identity
	wrote     kind = "wrote"     // a write to the guarded resource
	resigned  kind = "resigned"  // Resign has returned; Detail is the error
	counted   kind = "counted"   // an answer to the command "count"
	finished  kind = "finished"  // Run has returned; Detail is the error
	logged    kind = "logged"    // a line of the elector's log
)

// What the test does.
const (
	frozen     kind = "frozen"     // noted before SIGSTOP
	thawed     kind = "thawed"     // noted before SIGCONT
	killed     kind = "killed"     // noted when a process that got SIGKILL is gone
	terminated kind = "terminated" // noted before SIGTERM
	fault      kind = "fault"      // Detail says which
	read       kind = "read"       // the test has read the guarded register; Fence is its token
	lostKey    kind = "lostKey"    // the lock vanishes from Redis; for Within, two can believe that they lead
	failing    kind = "failing"    // noted before a server is taken away that another is to replace
	promoted   kind = "promoted"   // the other serves; if the lock was lost on the way, two can believe for Within that they lead
	recovers   kind = "recovers"   // faults are over: somebody leads within Within
)

// String is the event without its time.
func (e event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %s", e.Process, e.Kind)
	if e.Kind == read {
		fmt.Fprintf(&b, " #%d %q", e.Seq, e.Value)
	}
	if e.Kind == wrote {
		fmt.Fprintf(&b, " #%d %s", e.Seq, answer(e))
	}
	if e.Fence != 0 {
		fmt.Fprintf(&b, " fence=%d", e.Fence)
	}
	if e.Within != 0 {
		fmt.Fprintf(&b, " within %v", e.Within)
	}
	if e.Count != (counts{}) {
		fmt.Fprintf(&b, " %+v", e.Count)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	return b.String()
}

// frequent reports whether events of this kind come in runs that people do not want to
// read one by one.
func (k kind) frequent() bool {
	return k == wrote || k == read || k == attempted || k == renewed || k == unrenewed
}
