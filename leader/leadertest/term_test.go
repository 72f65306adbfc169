package leadertest_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
)

func TestTermHasDefaults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		term := leadertest.NewTerm(leadertest.TermConfig{})
		if term.Name() != "test" || term.Identity() != "test" || term.FenceToken() != 1 || !term.StartedAt().Equal(time.Now()) {
			t.Errorf("%q %q %d %v", term.Name(), term.Identity(), term.FenceToken(), term.StartedAt())
		}
		if left := term.Remaining(); left <= time.Hour-time.Second || left > time.Hour || term.Check() != nil || term.Context().Err() != nil {
			t.Errorf("%v is left, Check = %v", left, term.Check())
		}
	})
}

func TestTermIsAsConfigured(t *testing.T) {
	cfg := leadertest.TermConfig{Name: "reports", Identity: "replica-1", FenceToken: 7, Remaining: time.Minute}
	term := leadertest.NewTerm(cfg)
	got := leadertest.TermConfig{Name: term.Name(), Identity: term.Identity(), FenceToken: term.FenceToken(), Remaining: term.Remaining().Round(time.Second)}
	if got != cfg {
		t.Errorf("%+v", got)
	}
	if found, ok := leader.TermFromContext(context.WithoutCancel(term.Context())); !ok || found != term.Term {
		t.Errorf("TermFromContext = %v, %t", found, ok)
	}
}

func TestTermEndsWithItsCause(t *testing.T) {
	deposed := errors.New("a later leader has written")
	for _, c := range []struct {
		name string
		end  func(*leadertest.Term)
		want []error
	}{
		{"lost", func(term *leadertest.Term) { term.End(leader.ErrLost) }, []error{leader.ErrLost}},
		{"resigned", func(term *leadertest.Term) { term.End(leader.ErrResigned) }, []error{leader.ErrResigned}},
		{"stopped", func(term *leadertest.Term) { term.End(context.Canceled) }, []error{context.Canceled}},
		{"no cause", func(term *leadertest.Term) { term.End(nil) }, []error{leader.ErrExpired}},
		{"twice", func(term *leadertest.Term) { term.End(leader.ErrLost); term.End(leader.ErrResigned) }, []error{leader.ErrLost}},
		{"failed", func(term *leadertest.Term) { term.Fail(deposed) }, []error{leader.ErrFailed, deposed}},
		{"expired", func(*leadertest.Term) { time.Sleep(time.Hour) }, []error{leader.ErrExpired}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				term := leadertest.NewTerm(leadertest.TermConfig{})
				derived, cancel := context.WithCancel(term.Context())
				defer cancel()
				c.end(term)
				<-term.Context().Done()
				<-derived.Done()
				for _, want := range c.want {
					if cause := context.Cause(derived); !errors.Is(cause, want) || !errors.Is(term.Check(), want) {
						t.Errorf("cause %v, Check = %v, want %v", cause, term.Check(), want)
					}
				}
				if term.Context().Err() != context.Canceled || term.Remaining() != 0 {
					t.Errorf("Err = %v, %v is left", term.Context().Err(), term.Remaining())
				}
			})
		})
	}
}

func TestTermThatHasExpiredFromTheStart(t *testing.T) {
	term := leadertest.NewTerm(leadertest.TermConfig{Remaining: -1})
	if err := leader.Sleep(term.Context(), 0); !errors.Is(err, leader.ErrExpired) || term.Context().Err() == nil {
		t.Errorf("Sleep = %v", err)
	}
}
