package main

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestTableIsAlignedMarkdown(t *testing.T) {
	tab := table{columns: []string{"", "time", "ratio"}}
	tab.add("floor", "9.00 µs", "1.00×")
	tab.add("other", "10.0 µs")
	tab.fail("gone", errors.New("a | b\nc"))
	want := strings.Join([]string{
		"|       |                  time | ratio |",
		"|-------|----------------------:|------:|",
		"| floor |               9.00 µs | 1.00× |",
		"| other |               10.0 µs |     – |",
		"| gone  | not measured: a / b c |     – |",
		"",
	}, "\n")
	if got := tab.markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFormats(t *testing.T) {
	for got, want := range map[string]string{
		number(0.1234):            "0.12",
		number(12.34):             "12.3",
		number(1234.5):            "1234",
		number(math.NaN()):        missing,
		nanoseconds(640):          "640 ns",
		nanoseconds(1_500):        "1.50 µs",
		nanoseconds(2_345_678):    "2.35 ms",
		nanoseconds(12e9):         "12.0 s",
		nanoseconds(math.NaN()):   missing,
		times(1.5):                "1.50×",
		times(math.Inf(1)):        missing,
		waiters(1) + waiters(10):  "1 waiter10 waiters",
		kubernetes.String():       "15s / 10s / 2s",
		scaled(1e9).String():      "1s / 667ms / 133ms",
		parseCPUModel("a\t: b\n"): "unknown processor",
		parseCPUModel("model name\t: Some CPU\nmodel name\t: Another\n"): "Some CPU",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
