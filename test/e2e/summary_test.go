package e2e

import (
	"strings"
	"testing"
	"time"
)

func TestVacancyLeavesOutActiveFaults(t *testing.T) {
	const ms = time.Millisecond
	events := []event{
		at(0, "a", started, 1),
		// Nobody leads while a fault is active.
		at(100, "test", fault, 0), at(200, "a", stopped, 0),
		// 300 ms without a leader.
		within(1000, recovers, 500), at(1300, "b", started, 2),
		// 400 ms.
		at(1500, "b", stopped, 0), at(1900, "a", started, 3),
		// 900 ms while a fault is active.
		at(2000, "test", fault, 0), at(2100, "a", stopped, 0), at(3000, "b", started, 4),
		within(3500, recovers, 500), at(4000, "test", terminated, 0), at(4000, "b", stopped, 0), at(5000, "test", logged, 0),
	}
	terms, _ := pairing(events)
	if longest, since := vacancy(events, terms); longest != 400*ms || since != 1500*ms {
		t.Errorf("vacancy = %v since %v, want 400 ms since 1.5 s", longest, since)
	}
}

func TestVacancyLastsUntilTheEnd(t *testing.T) {
	events := []event{within(0, recovers, 500), at(700, "a", attempted, 0)}
	if longest, _ := vacancy(events, nil); longest != 700*time.Millisecond {
		t.Errorf("vacancy = %v, want all of it", longest)
	}
}

func TestSummaryCounts(t *testing.T) {
	events := []event{
		at(0, "a", started, 1),
		write(10, "a", 1, 1, accepted), write(30, "a", 2, 1, rejected), write(50, "a", 3, 1, unknown),
		at(60, "a", ended, 0), at(70, "a", stopped, 0), within(80, recovers, 500),
	}
	events[4].Detail = "lost"
	control := []entry{{2, "b/1"}, {1, "a/1"}, {1, "a/2"}}
	violations := []violation{{ruleRegister, "", 0}, {ruleAtomic, "", 0}, {ruleFence, "", 0}}
	got := newSummary(events, control, violations, map[faultKind]int{forge: 2})

	if got.terms != 1 || got.accepted != 1 || got.rejected != 1 || got.unanswered != 1 || got.quietPeriods != 1 {
		t.Errorf("counts: %+v", got)
	}
	if got.fenced != 2 || got.unfenced != 2 || got.others != 1 {
		t.Errorf("violations: %+v", got)
	}
	if missing := got.missing(); len(missing) != len(faultClasses)-1 {
		t.Errorf("missing: %v", missing)
	}
	table := got.table(time.Second)
	for _, want := range []string{"1 lost", "2  data: forged announcements", "0  data: FLUSHALL", "2  violations in the unfenced control"} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}
