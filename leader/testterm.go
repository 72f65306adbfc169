package leader

import (
	"context"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/leader/internal/testterm"
)

func init() { testterm.New = newTestTerm }

// newTestTerm makes a term that has begun and that nobody renews.
func newTestTerm(parent context.Context, cfg testterm.Config) (context.Context, any, context.CancelCauseFunc) {
	e := &Elector{
		cfg:    Config{Name: cfg.Name, Identity: cfg.Identity},
		timing: timing{deadline: cfg.Remaining},
		now:    clock.Now,
	}
	t := newTerm(parent, e, e.now(), cfg.FenceToken)
	t.begin()
	context.AfterFunc(parent, func() { t.end(context.Cause(parent)) })
	return termContext{t.ctx, t}, Term{t}, t.end
}
