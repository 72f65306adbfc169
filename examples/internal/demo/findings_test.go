package demo

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// at is an instant of a show.
func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

// good is what a good show finds.
func good() findings {
	return findings{
		terms: []Term{
			{"replica-1", 101, at(0), at(2), "hand-over (SIGTERM)"},
			{"replica-2", 102, at(2.1), at(4), "crash (SIGKILL)"},
			{"replica-3", 103, at(5.5), at(7), "frozen beyond its lease (SIGSTOP)"},
			{"replica-1", 104, at(8.5), at(10), "end of the show"},
		},
		writes:   []int64{101, 101, 102, 103, 104, 104},
		rejected: map[int64]int{103: 1},
		breaks:   3,
		freezes:  1,
		report:   Report{Control: []int64{101, 101, 102, 103, 104, 103, 104}},
	}
}

func conclusion(f findings) (string, error) {
	var out strings.Builder
	err := f.conclude(&out, false)
	return out.String(), err
}

func TestAGoodShowPasses(t *testing.T) {
	t.Parallel()
	f := good()
	f.report.Checks = []Check{{true, "checked by the example"}}
	text, err := conclusion(f)
	if err != nil || strings.Contains(text, "FAIL") {
		t.Errorf("%v, printed:\n%s", err, text)
	}
	for _, want := range []string{"PASSED", "checked by the example", strings.Join([]string{
		"term  leader     fencing token      lasted  ended by                           gap to next  accepted  rejected  control: stale",
		"   1  replica-1  101                 2.00s  hand-over (SIGTERM)                      0.10s         2         0               0",
		"   2  replica-2  102                 1.90s  crash (SIGKILL)                          1.50s         1         0               0",
		"   3  replica-3  103                 1.50s  frozen beyond its lease (SIGSTOP)        1.50s         1         1               1",
		"   4  replica-1  104                 1.50s  end of the show                              -         2         0               0",
		strings.Repeat(" ", 80) + "all writes         6         1               1",
	}, "\n")} {
		if !strings.Contains(text, want) {
			t.Errorf("lacks\n%s\nprinted:\n%s", want, text)
		}
	}
}

// Without a control and without a frozen leader, neither is asked for.
func TestAShowWithoutAFreezePasses(t *testing.T) {
	t.Parallel()
	f := good()
	f.freezes, f.rejected, f.report.Control = 0, nil, nil
	if text, err := conclusion(f); err != nil || strings.Contains(text, "control") || strings.Contains(text, "late writes") {
		t.Errorf("%v, printed:\n%s", err, text)
	}
}

func TestFailingVerdicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*findings)
		want   string
	}{
		"stale write": {
			func(f *findings) { f.writes = append(f.writes, 103) }, "stale writes accepted: 1 of 7",
		},
		"no write": {
			func(f *findings) { f.writes = nil }, "stale writes accepted: 0 of 0",
		},
		"nothing rejected": {
			func(f *findings) { f.rejected = nil }, "late writes rejected: 0 (at least 1 wanted)",
		},
		"overlap with the next term": {
			func(f *findings) { f.terms[0].Ended = at(2.2) },
			"the terms of replica-1 (101) and replica-2 (102) overlapped by 100ms",
		},
		"overlap with a later term": {
			func(f *findings) { f.terms[0].Ended, f.terms[1].Started = at(5.6), at(5.7) }, "overlapped by 100ms",
		},
		"term without an end": {
			func(f *findings) { f.terms[3].Ended = time.Time{} },
			"the term of replica-1 with fencing token 104 never ended",
		},
		"token goes back": {
			func(f *findings) { f.terms[2].Fence = 100 }, "fencing token 100 came after 102",
		},
		"same token twice": {
			func(f *findings) { f.terms[1].Fence = 101 }, "fencing token 101 came after 101",
		},
		"too few take-overs": {
			func(f *findings) { f.terms = f.terms[:3] }, "take-overs: 2 (at least 3 wanted)",
		},
		"nobody ever led": {
			func(f *findings) { f.terms = nil }, "take-overs: 0 (at least 3 wanted)",
		},
		"control without harm": {
			func(f *findings) { f.report.Control = []int64{101, 102} },
			"stale writes accepted by the control: 0 (at least 1 wanted)",
		},
		"check of the example": {
			func(f *findings) { f.report.Checks = []Check{{false, "it does not hold"}} }, "it does not hold",
		},
		"scene that failed": {
			func(f *findings) { f.played = errors.New("nobody leads") }, "nobody leads",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := good()
			c.change(&f)
			text, err := conclusion(f)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("failure is %v, want %q", err, c.want)
			}
			if !strings.Contains(text, "FAIL  ") || !strings.Contains(text, "FAILED") || strings.Contains(text, "PASSED") {
				t.Errorf("printed:\n%s", text)
			}
		})
	}
}
