package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

func TestPlotIsWellFormed(t *testing.T) {
	p := plot{file: "p.svg", title: "A & B <c>", unit: nanoseconds, log: true}
	p.add("1 waiter", bar{label: "floor", value: 2e5, dot: 5e5})
	p.add("1 waiter", bar{label: "redisleader", value: 3e5})
	p.add("10 waiters", bar{label: "other", value: 9e8, dot: 2e9, text: ">1 s"})
	svg := p.svg()
	for decoder := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, svg)
		}
	}
	for what, want := range map[string]int{
		"<rect": 3, `class="ours"`: 1, "<circle": 2, "10 waiters": 1,
		">200 µs<": 1, "&gt;1 s": 1, ">10 ms<": 1, "prefers-color-scheme": 1,
	} {
		if got := strings.Count(svg, what); got != want {
			t.Errorf("%d times %q, want %d", got, what, want)
		}
	}
}

func TestEmptyPlot(t *testing.T) {
	for _, log := range []bool{false, true} {
		p := plot{unit: number, log: log}
		if svg := p.svg(); strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("log %v:\n%s", log, svg)
		}
	}
}

func TestAxisCoversItsValues(t *testing.T) {
	for _, high := range []float64{0.7, 1, 1.9, 3.3, 42, 99, 100, 12345} {
		a := linearAxis(high)
		last := a.ticks[len(a.ticks)-1]
		if a.high < high || math.Abs(last-a.high) > 1e-9*a.high || len(a.ticks) < 4 || len(a.ticks) > 11 {
			t.Errorf("linear axis to %v: %+v", high, a)
		}
	}
	for _, c := range [][2]float64{{1, 9}, {10, 10}, {250, 3e9}} {
		a := logAxis(c[0], c[1])
		if a.low > c[0] || a.high < c[1]*0.999 || a.at(c[0]) <= 0 || a.at(c[1]) > 1.001 {
			t.Errorf("log axis of %v: %+v, from %v to %v", c, a, a.at(c[0]), a.at(c[1]))
		}
	}
}
