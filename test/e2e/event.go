package e2e

import (
	"fmt"
	"strings"
	"time"
)

// event is something that happened to a candidate, or that the test did to one.
//
// At is a reading of CLOCK_MONOTONIC. All processes of one machine read the same clock,
// so it puts events of different processes in order. Wall clocks could be set in
// between.
type event struct {
	At      time.Duration `json:"at"`
	Process string        `json:"process,omitempty"` // label of the candidate, or "test"
	Kind    kind          `json:"kind"`
	Fence   int64         `json:"fence,omitempty"`
	Detail  string        `json:"detail,omitempty"`

	// Begun is when a write or a read was about to be sent; At is when it was answered.
	Begun time.Duration `json:"begun,omitempty"`
	// Seq numbers the writes of a process. Of a read, it is how many writes the
	// register has accepted.
	Seq      int    `json:"seq,omitempty"`
	Value    string `json:"value,omitempty"`    // of a write or a read
	Accepted bool   `json:"accepted,omitempty"` // of a write

	Usage  usage         `json:"usage,omitzero"`   // of measured
	Within time.Duration `json:"within,omitempty"` // of recovers, lostKey and promoted
}

// usage is how much of its resources a candidate uses.
type usage struct {
	Goroutines  int
	Connections int
}

type kind string

// What candidates report.
const (
	started   kind = "started"   // OnStartedLeading was called
	cancelled kind = "cancelled" // the work saw the end of its term; Detail is the cause
	returned  kind = "returned"  // OnStartedLeading is about to return
	stopped   kind = "stopped"   // OnStoppedLeading was called
	ended     kind = "ended"     // the elector no longer leads; Detail is the reason
	attempted kind = "attempted" // an attempt to obtain the lock; Detail is the result
	renewed   kind = "renewed"   // the lease was renewed
	unrenewed kind = "unrenewed" // an attempt to renew it failed; Detail is the error
	newLeader kind = "newLeader" // OnNewLeader was called; Detail is the identity
	wrote     kind = "wrote"     // a write to the guarded resource
	resigned  kind = "resigned"  // Resign has returned; Detail is the error
	measured  kind = "measured"  // the answer to the command "measure"
	finished  kind = "finished"  // Run has returned; Detail is the error
	logged    kind = "logged"    // a line of the elector's log
)

// What the test does.
const (
	frozen     kind = "frozen"     // recorded before SIGSTOP
	thawed     kind = "thawed"     // recorded before SIGCONT
	killed     kind = "killed"     // recorded when a process that got SIGKILL is gone
	terminated kind = "terminated" // recorded before SIGTERM
	fault      kind = "fault"      // Detail says which
	read       kind = "read"       // a read of the guarded register; Fence is its token
	failing    kind = "failing"    // recorded before a server goes that another will replace

	// lostKey is recorded before the lock vanishes from Redis. For Within, two
	// candidates may believe that they lead.
	lostKey kind = "lostKey"
	// promoted is recorded when another server has replaced the failing one. If the
	// lock was lost on the way, two candidates may believe for Within that they lead.
	promoted kind = "promoted"
	// recovers is recorded when all faults are over. Somebody has to lead within
	// Within.
	recovers kind = "recovers"
)

// String is the event without its time.
func (e event) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-6s %s", e.Process, e.Kind)
	if e.Kind == read {
		fmt.Fprintf(&b, " #%d %q", e.Seq, e.Value)
	}
	if e.Kind == wrote {
		fmt.Fprintf(&b, " #%d %s", e.Seq, outcomeOf(e))
	}
	if e.Fence != 0 {
		fmt.Fprintf(&b, " fence=%d", e.Fence)
	}
	if e.Within != 0 {
		fmt.Fprintf(&b, " within %v", e.Within)
	}
	if e.Usage != (usage{}) {
		fmt.Fprintf(&b, " %+v", e.Usage)
	}
	if e.Detail != "" {
		fmt.Fprintf(&b, " (%s)", e.Detail)
	}
	return b.String()
}

// frequent reports whether there are so many events of this kind that nobody wants to
// read each of them.
func (k kind) frequent() bool {
	return k == wrote || k == read || k == attempted || k == renewed || k == unrenewed
}

// by returns a filter for the events of a kind. Label "" is any candidate's.
func (k kind) by(label string) func(event) bool {
	return func(e event) bool { return e.Kind == k && (label == "" || e.Process == label) }
}
