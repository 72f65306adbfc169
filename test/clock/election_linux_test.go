package clock

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/leader"
)

// A server whose clock is set forward lets the lease run out at once. That is what the
// promise of exclusion leaves out: two lead for a while. It is a short while, and the
// fencing tokens keep the resource clean meanwhile.
func TestForwardStepUnderALeader(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	a := s.candidate("a", s.Addr(), r)
	s.await("a leads", a.IsLeader)
	b := s.candidate("b", s.Addr(), r)
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	renewals := a.renewals()
	s.await("a has just renewed", func() bool { return a.renewals() > renewals })
	ctx, stepped := a.lastCtx(), time.Now()
	s.step(step)
	s.await("b leads", b.IsLeader)
	s.await("a is out", func() bool { return ctx.Err() != nil })
	if took, limit := time.Since(stepped), lease/3+time.Second; took > limit {
		t.Errorf("a was out after %v, want a third of the lease: %v and a little", took, lease/3)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, leader.ErrLost) {
		t.Errorf("cause = %v, want %v", cause, leader.ErrLost)
	}
	guarded, open, rejected := r.writers()
	if !slices.Equal(guarded, []string{"a", "b"}) {
		t.Errorf("the guarded resource was written by %q in turn", guarded)
	}
	if len(open) < 3 || rejected == 0 {
		t.Errorf("without tokens written by %q in turn, with them %d writes rejected: the leaders did not overlap, and this has shown nothing", open, rejected)
	}
	if one, other := a.tokens(), b.tokens(); one[0] >= other[0] {
		t.Errorf("fencing tokens %d, then %d", one, other)
	}
}

// A server whose clock is set back keeps the lock for longer, until the next renewal
// sets that right. Nobody else leads.
func TestBackwardStepUnderALeader(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	a := s.candidate("a", s.Addr(), r)
	s.await("a leads", a.IsLeader)
	b := s.candidate("b", s.Addr(), r)
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	renewals := a.renewals()
	s.await("a has just renewed", func() bool { return a.renewals() > renewals })
	s.step(-step)
	if ttl := s.ttl(lockKey); ttl < step {
		t.Errorf("the lock lives for %v more, want over %v: the step had no effect", ttl, step)
	}
	s.await("a has renewed", func() bool { return a.renewals() > renewals+1 })
	if ttl := s.ttl(lockKey); ttl > lease {
		t.Errorf("the lock lives for %v more, want at most the lease, %v", ttl, lease)
	}
	time.Sleep(2 * lease)
	if len(a.tokens()) != 1 || len(b.tokens()) != 0 || !a.IsLeader() {
		t.Errorf("terms of a: %d, of b: %d, want the first to go on", a.tokens(), b.tokens())
	}
}

// A leader is cut off while the server's clock is set back, so that nobody shortens the
// lock. Its term ends by its own clock, and nobody leads until the server's clock is
// right again: an election stands still rather than have two leaders.
func TestBackwardStepUnderALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	proxy := faultproxy.Start(t, s.Addr())
	a := s.candidate("a", proxy.Addr(), r)
	t.Cleanup(proxy.Heal) // before a is joined
	s.await("a leads", a.IsLeader)
	b := s.candidate("b", s.Addr(), r)
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	ctx := a.lastCtx()
	proxy.Refuse()
	s.step(-step)
	s.await("a is out", func() bool { return ctx.Err() != nil })
	if cause := context.Cause(ctx); !errors.Is(cause, leader.ErrExpired) {
		t.Errorf("cause = %v, want %v", cause, leader.ErrExpired)
	}
	time.Sleep(2 * lease)
	if tokens := b.tokens(); len(tokens) > 0 {
		t.Errorf("b led with %d while the server had the lock for a", tokens)
	}
	s.step(step)
	s.await("b leads", b.IsLeader)
	if one, other := a.tokens(), b.tokens(); one[0] >= other[0] {
		t.Errorf("fencing tokens %d, then %d", one, other)
	}
}

// Tokens rise through hand-overs whatever the server's clock does in between.
func TestTokensRiseThroughSteps(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	a, b := s.candidate("a", s.Addr(), r), s.candidate("b", s.Addr(), r)
	var tokens []int64
	for _, d := range []time.Duration{0, step, -step, -step, 2 * step, -time.Hour, time.Hour} {
		if d != 0 {
			s.step(d)
		}
		var leading *candidate
		s.await("somebody leads with a new token", func() bool {
			for _, c := range []*candidate{a, b} {
				if term, ok := c.Term(); ok && c.lastToken() == term.FenceToken() && (len(tokens) == 0 || term.FenceToken() != tokens[len(tokens)-1]) {
					leading = c
				}
			}
			return leading != nil
		})
		tokens = append(tokens, leading.lastToken())
		if err := leading.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := slices.Concat(a.tokens(), b.tokens())
	slices.Sort(all)
	if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("fencing tokens %d, all of them %d: want them to rise", tokens, all)
	}
}
