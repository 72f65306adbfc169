// Package testterm lets package leadertest make a Term without an elector, which only
// package leader can.
package testterm

import (
	"context"
	"time"
)

// Config describes a Term.
type Config struct {
	Name, Identity string
	FenceToken     int64
	Remaining      time.Duration // until it expires by the clocks
}

// New makes a Term, which is a leader.Term, the context of its work, and what ends it. It is
// set by package leader.
var New func(parent context.Context, cfg Config) (ctx context.Context, term any, end context.CancelCauseFunc)
