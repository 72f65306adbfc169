package main

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/leader/leadertest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// leadUntil has w lead a term until a condition holds. It returns why the term ended.
func (w worker) leadUntil(t *testing.T, token int64, until func() bool) error {
	t.Helper()
	term := leadertest.NewTerm(leadertest.TermConfig{Name: "invoices", Identity: "r", FenceToken: token})
	done := make(chan struct{})
	go func() { // joined below
		defer close(done)
		w.lead(term.Context(), term.Term)
	}()
	deadline := time.Now().Add(20 * time.Second)
	for !until() && time.Now().Before(deadline) && term.Context().Err() == nil {
		time.Sleep(time.Millisecond)
	}
	term.End(leader.ErrResigned)
	<-done
	return context.Cause(term.Context())
}

func TestInvoicesAreNumbered(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	has := func(n int) func() bool { return func() bool { return len(w.column(t, "id", "invoices")) >= n } }
	for i, token := range []int64{7, 8} {
		if err := w.leadUntil(t, token, has(2*(i+1))); !errors.Is(err, leader.ErrResigned) {
			t.Errorf("the term ended with %v", err)
		}
	}
	got := w.column(t, "number", "invoices")
	for i, number := range got {
		if number != int64(i)+1 {
			t.Errorf("invoices %v", got)
		}
	}
}

// A write that has begun is finished, although its term ends meanwhile.
func TestTheEndOfATermInterruptsNoWrite(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	w.mustClaim(t, 7, "r")
	term := leadertest.NewTerm(leadertest.TermConfig{Identity: "r", FenceToken: 7})
	time.AfterFunc(rendering/2, func() { term.End(leader.ErrExpired) })
	if err := w.issue(term.Context(), term.Term); err != nil {
		t.Error(err)
	}
	if got := w.column(t, "number", "invoices"); !slices.Equal(got, []int64{1}) {
		t.Errorf("invoices %v", got)
	}
}

func TestADeposedLeaderEndsItsTerm(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	claimed := false
	deposing := worker{w.db, w.fence, func(w worker, ctx context.Context, term leader.Term) error {
		if !claimed { // by the next leader, while this one renders
			claimed = true
			w.mustClaim(t, 8, "next")
		}
		return w.issue(ctx, term)
	}}
	never := func() bool { return false }
	if err := deposing.leadUntil(t, 7, never); !errors.Is(err, leader.ErrDeposed) || !claimed {
		t.Errorf("deposed by a claim: the term ended with %v", err)
	}
	if err := w.leadUntil(t, 7, never); !errors.Is(err, leader.ErrDeposed) {
		t.Errorf("deposed from the start: the term ended with %v", err)
	}
	if got := w.column(t, "number", "invoices"); len(got) != 0 {
		t.Errorf("invoices %v", got)
	}
}

// The control has to do what it is here to show.
func TestControl(t *testing.T) {
	t.Parallel()
	w := testWorker(t)
	round := func(token int64, meanwhile func()) error {
		term := leadertest.NewTerm(leadertest.TermConfig{Identity: "r", FenceToken: token})
		w.mustClaim(t, token, "r")
		time.AfterFunc(rendering/2, meanwhile)
		return withControl(w, term.Context(), term.Term)
	}
	done := make(chan error, 1)
	// It is overtaken while it renders, and frozen until then.
	err := round(7, func() { done <- round(8, func() {}) })
	if !errors.Is(err, leader.ErrDeposed) || <-done != nil {
		t.Errorf("got %v", err)
	}
	checks := judge(w.column(t, "number", "invoices"), w.column(t, "number", "unfenced"), []int64{8, 7})
	for _, c := range checks {
		if !c.Holds {
			t.Error(c.Text)
		}
	}
}
