package main

import (
	"errors"
	"sync"
	"testing"
)

func TestLedgerGuards(t *testing.T) {
	t.Parallel()
	steps := []struct {
		token    int64
		accepted bool
	}{
		{5, true},
		{5, true}, // equal: the same term writes again
		{4, false},
		{9, true}, // higher
		{8, false},
		{5, false},
		{9, true},
	}
	var rejections []staleError
	l := &ledger{onReject: func(token, highest int64) { rejections = append(rejections, staleError{token, highest}) }}
	for i, s := range steps {
		before := l.value
		err := l.write(s.token, int64(i+1))
		if accepted := err == nil; accepted != s.accepted {
			t.Fatalf("step %d: write with token %d: %v", i, s.token, err)
		}
		if want := int64(i + 1); s.accepted && l.value != want {
			t.Errorf("step %d: value is %d after an accepted write of %d", i, l.value, want)
		}
		if !s.accepted && l.value != before {
			t.Errorf("step %d: a rejected write changed the value", i)
		}
	}
	a := l.account()
	if a.accepted[5] != 2 || a.accepted[9] != 2 || a.rejected[4] != 1 || a.rejected[8] != 1 || a.rejected[5] != 1 || a.stale != 0 {
		t.Errorf("account: %+v", a)
	}
	if total(a.accepted) != 4 || total(a.rejected) != 3 || l.fence() != 9 {
		t.Errorf("totals: %d accepted, %d rejected, highest %d", total(a.accepted), total(a.rejected), l.fence())
	}
	if len(rejections) != 3 || rejections[2] != (staleError{5, 9}) {
		t.Errorf("told of rejections: %v", rejections)
	}
}

// The journal keeps the order of the decisions, so a guard with a gap in it would show
// as a stale write.
func TestLedgerGuardsConcurrentWrites(t *testing.T) {
	t.Parallel()
	const writers, writes = 16, 500
	l := &ledger{}
	var all sync.WaitGroup
	for token := int64(1); token <= writers; token++ {
		all.Go(func() {
			for range writes {
				if err := l.write(token, l.read(token)+1); err != nil && !errors.As(err, new(staleError)) {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	a := l.account()
	if a.stale != 0 || total(a.accepted)+total(a.rejected) != writers*writes || a.rejected[writers] != 0 {
		t.Errorf("stale %d, accepted %v, rejected %v", a.stale, a.accepted, a.rejected)
	}
}

func TestAuditDoesNotTrustTheGuard(t *testing.T) {
	t.Parallel()
	a := audit([]write{{5, true}, {7, true}, {5, true}, {7, true}, {6, true}, {1, false}})
	if a.stale != 2 {
		t.Errorf("stale writes: %d, want 2", a.stale)
	}
}

func TestLedgerKnowsWhoIsAboutToWrite(t *testing.T) {
	t.Parallel()
	l := &ledger{}
	if l.aboutToWrite(3) {
		t.Error("before the read")
	}
	l.read(3)
	if !l.aboutToWrite(3) || l.aboutToWrite(4) {
		t.Error("after the read")
	}
	_ = l.write(3, 1)
	if l.aboutToWrite(3) {
		t.Error("after the write")
	}
}
