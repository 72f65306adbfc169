package e2e

import (
	"testing"
	"time"
)

// failoverHistory is one in which the server goes away with a's lock, another server
// replaces it, and b leads there from the time begun. The process a goes on until the
// time stop.
func failoverHistory(begun, stop int) []event {
	return historyOf([]event{
		at(10, "a", started, 1),
		at(1000, "test", failing, 0),
		within(3000, promoted, 500),
		at(begun, "b", started, 2),
		at(stop, "a", stopped, 0),
		at(9000, "b", stopped, 0),
	}).all()
}

func TestFailoverAllowsAnOverlap(t *testing.T) {
	for _, c := range []struct{ begun, stop int }{
		{3100, 3400}, // both after the promotion
		{2900, 3500}, // the new master served before the test saw it
		{1001, 3500},
	} {
		if found := check(failoverHistory(c.begun, c.stop), nil); len(found) != 0 {
			t.Errorf("begun at %d, stopped at %d: found %v", c.begun, c.stop, found)
		}
	}
}

func TestFailoverAllowsNoMore(t *testing.T) {
	for name, c := range map[string]struct{ begun, stop int }{
		"the old leader went on for too long":        {3100, 3501},
		"the next term began before the failover":    {999, 3100},
		"the next term began after the allowed time": {3600, 3700},
	} {
		if !found(check(failoverHistory(c.begun, c.stop), nil), ruleOverlap) {
			t.Errorf("not found: %s", name)
		}
	}
}

func TestFailoverWithoutAPromotionAllowsNoOverlap(t *testing.T) {
	events := drop("test", promoted)(failoverHistory(3100, 3400))
	if !found(check(events, nil), ruleOverlap) {
		t.Errorf("not found, in %v", events)
	}
}

func TestEachFailoverAllowsAnOverlapOfItsOwn(t *testing.T) {
	events := append(failoverHistory(3100, 3400),
		at(10000, "c", started, 3),
		at(10100, "test", failing, 0), within(11000, promoted, 500),
		at(11200, "d", started, 4), at(11400, "c", stopped, 0), at(12000, "d", stopped, 0),
	)
	if found := check(events, nil); len(found) != 0 {
		t.Errorf("found %v", found)
	}
	between := append(failoverHistory(5000, 6000),
		at(10100, "test", failing, 0), within(11000, promoted, 500))
	if !found(check(between, nil), ruleOverlap) {
		t.Error("an overlap between two failovers is allowed")
	}
	if got := len(allowedOverlaps(events)); got != 2 {
		t.Errorf("%d allowedOverlaps, want 2", got)
	}
	if last := allowedOverlaps(events)[1]; last.from != 10100*time.Millisecond || last.to != 11500*time.Millisecond {
		t.Errorf("the second one is %v", last)
	}
}
