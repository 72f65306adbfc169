package leadertest

import (
	"cmp"
	"context"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/internal/testterm"
)

// TermConfig describes a Term. Each field has a default.
type TermConfig struct {
	// Name is the name of the election. Default: "test".
	Name string

	// Identity is the identity of the candidate that leads. Default: "test".
	Identity string

	// FenceToken is the fencing token of the term. Default: 1.
	FenceToken int64

	// Remaining is how long the term lasts unless something ends it earlier. It is not
	// renewed. With a negative Remaining the term has expired from the start. Default: an
	// hour.
	Remaining time.Duration
}

// Term is a term without an election. It behaves as one that an elector has begun: it
// expires by the clocks, and Fail ends it. Pass its context and its Term to the callback
// under test:
//
//	work(term.Context(), term.Term)
type Term struct {
	leader.Term
	ctx context.Context
	end context.CancelCauseFunc
}

// NewTerm begins a term.
func NewTerm(cfg TermConfig) *Term {
	cfg = TermConfig{
		Name:       cmp.Or(cfg.Name, "test"),
		Identity:   cmp.Or(cfg.Identity, "test"),
		FenceToken: cmp.Or(cfg.FenceToken, 1),
		Remaining:  cmp.Or(cfg.Remaining, time.Hour),
	}
	ctx, term, end := testterm.New(context.Background(), testterm.Config(cfg))
	t := &Term{Term: term.(leader.Term), ctx: ctx, end: end}
	// As in an election the context is done at the deadline, even if nobody looks.
	time.AfterFunc(cfg.Remaining, func() { _ = t.Check() })
	return t
}

// Context returns the context of the term's work. It is done once the term has ended, and
// leader.TermFromContext finds the term in it.
func (t *Term) Context() context.Context { return t.ctx }

// End ends the term. context.Cause of its context, and Check, then return cause:
// leader.ErrLost, leader.ErrExpired, leader.ErrResigned, or what the context given to Run
// would have ended with. A nil cause stands for leader.ErrExpired. End has no effect on a
// term that has ended.
func (t *Term) End(cause error) {
	if cause == nil {
		cause = leader.ErrExpired
	}
	t.end(cause)
}
