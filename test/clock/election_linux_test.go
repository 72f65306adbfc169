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

// leaderAndFollower starts a candidate a, waits until it leads, and then starts b. The
// address is that by which a reaches the server.
func (s *server) leaderAndFollower(addr string, r *resource) (a, b *candidate) {
	s.t.Helper()
	a = s.candidate("a", addr, r)
	s.await("a leads", a.IsLeader)
	b = s.candidate("b", s.Addr(), r)
	s.await("b follows", func() bool { return b.GetLeader() == "a" })
	return a, b
}

// awaitRenewal waits until the candidate has renewed its lease, and returns how often
// it has by then.
func (s *server) awaitRenewal(c *candidate) int {
	s.t.Helper()
	before := c.renewals()
	s.await("a renewal", func() bool { return c.renewals() > before })
	return c.renewals()
}

// checkOrder expects the first token of b to be higher than the first token of a.
func checkOrder(t *testing.T, a, b *candidate) {
	t.Helper()
	if one, other := a.tokens(), b.tokens(); one[0] >= other[0] {
		t.Errorf("fencing tokens %d, then %d", one, other)
	}
}

// If the clock of the server is set forward, the lease runs out at once, and two
// candidates lead for a while. The promise of exclusion leaves this out. The overlap is
// short, and in the meantime the fencing tokens protect the resource.
func TestForwardStepUnderALeader(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	a, b := s.leaderAndFollower(s.Addr(), r)
	s.awaitRenewal(a)
	ctx, stepped := a.lastCtx(), time.Now()
	s.step(step)
	s.await("b leads", b.IsLeader)
	s.await("a's term is over", func() bool { return ctx.Err() != nil })
	if took, limit := time.Since(stepped), lease/3+time.Second; took > limit {
		t.Errorf("a's term was over after %v, want at most %v", took, limit)
	}
	if cause := context.Cause(ctx); !errors.Is(cause, leader.ErrLost) {
		t.Errorf("cause = %v, want %v", cause, leader.ErrLost)
	}
	guarded, open, rejected := r.writers()
	if !slices.Equal(guarded, []string{"a", "b"}) {
		t.Errorf("the guarded resource was written by %q in turn", guarded)
	}
	if len(open) < 3 || rejected == 0 {
		t.Errorf("without tokens written by %q in turn, with tokens %d writes rejected: "+
			"the leaders did not overlap, so this test has shown nothing", open, rejected)
	}
	checkOrder(t, a, b)
}

// If the clock of the server is set back, the lock stays longer, until the next renewal
// corrects that. Nobody else leads.
func TestBackwardStepUnderALeader(t *testing.T) {
	t.Parallel()
	s := start(t)
	a, b := s.leaderAndFollower(s.Addr(), new(resource))
	renewals := s.awaitRenewal(a)
	s.step(-step)
	if ttl := s.ttl(leader.LockKey("", electionName)); ttl < step {
		t.Errorf("the lock has %v left, want over %v: the step had no effect", ttl, step)
	}
	s.await("a has renewed", func() bool { return a.renewals() > renewals })
	if ttl := s.ttl(leader.LockKey("", electionName)); ttl > lease {
		t.Errorf("the lock has %v left, want at most the lease, %v", ttl, lease)
	}
	time.Sleep(2 * lease)
	if len(a.tokens()) != 1 || len(b.tokens()) != 0 || !a.IsLeader() {
		t.Errorf("terms of a: %d, of b: %d, want the first to go on", a.tokens(), b.tokens())
	}
}

// A leader is cut off while the clock of the server is set back, so no renewal shortens
// the lock. Its term ends by its own clock, and nobody leads until the clock of the
// server is right again: the election prefers no leader to two.
func TestBackwardStepUnderALeaderThatIsCutOff(t *testing.T) {
	t.Parallel()
	s := start(t)
	proxy := faultproxy.Start(t, s.Addr())
	a, b := s.leaderAndFollower(proxy.Addr(), new(resource))
	t.Cleanup(proxy.Heal) // before a is joined
	ctx := a.lastCtx()
	proxy.Refuse()
	s.step(-step)
	s.await("a's term is over", func() bool { return ctx.Err() != nil })
	if cause := context.Cause(ctx); !errors.Is(cause, leader.ErrExpired) {
		t.Errorf("cause = %v, want %v", cause, leader.ErrExpired)
	}
	time.Sleep(2 * lease)
	if tokens := b.tokens(); len(tokens) > 0 {
		t.Errorf("b led with %d while the server held the lock for a", tokens)
	}
	s.step(step)
	s.await("b leads", b.IsLeader)
	checkOrder(t, a, b)
}

// Tokens increase across hand-overs, whatever the clock of the server does in between.
func TestTokensIncreaseAcrossSteps(t *testing.T) {
	t.Parallel()
	s, r := start(t), new(resource)
	a, b := s.candidate("a", s.Addr(), r), s.candidate("b", s.Addr(), r)
	var tokens []int64
	for _, d := range []time.Duration{0, step, -step, -step, 2 * step, -time.Hour, time.Hour} {
		if d != 0 {
			s.step(d)
		}
		c, token := s.awaitNewTerm(tokens, a, b)
		tokens = append(tokens, token)
		if err := c.Resign(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	all := slices.Concat(a.tokens(), b.tokens())
	slices.Sort(all)
	if !slices.IsSorted(tokens) || len(slices.Compact(slices.Clone(all))) != len(all) {
		t.Errorf("fencing tokens %d, all of them %d: want them to increase", tokens, all)
	}
}

// awaitNewTerm waits until one of the candidates leads with another token than the last
// one, and its work has begun.
func (s *server) awaitNewTerm(tokens []int64, candidates ...*candidate) (leading *candidate, token int64) {
	s.t.Helper()
	s.await("a new term", func() bool {
		for _, c := range candidates {
			term, ok := c.Term()
			if ok && c.hasBegun(term) && (len(tokens) == 0 || term.FenceToken() != tokens[len(tokens)-1]) {
				leading, token = c, term.FenceToken()
			}
		}
		return leading != nil
	})
	return leading, token
}
