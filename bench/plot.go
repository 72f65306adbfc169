package main

import (
	"math"
	"slices"
)

// plot is a chart of horizontal bars in groups. A bar may have a dot for a second, larger
// value.
type plot struct {
	file   string
	title  string
	unit   func(float64) string
	log    bool // the axis is logarithmic
	groups []group
}

type group struct {
	label string // may be empty
	bars  []bar
}

type bar struct {
	label string
	value float64
	dot   float64 // 0: none
	text  string  // printed instead of the value
}

// add appends a bar to the group with that label.
func (p *plot) add(label string, b bar) {
	i := slices.IndexFunc(p.groups, func(g group) bool { return g.label == label })
	if i < 0 {
		p.groups = append(p.groups, group{label: label})
		i = len(p.groups) - 1
	}
	p.groups[i].bars = append(p.groups[i].bars, b)
}

// axis maps each value to its position, from 0 to 1 of the width.
type axis struct {
	log       bool
	low, high float64
	ticks     []float64
}

// axis returns an axis that covers all bars and dots.
func (p *plot) axis() axis {
	low, high := math.Inf(1), 0.0
	for _, g := range p.groups {
		for _, b := range g.bars {
			low, high = min(low, b.value), max(high, b.value, b.dot)
		}
	}
	if p.log {
		return logAxis(low, high)
	}
	return linearAxis(high)
}

// logAxis starts and ends at powers of ten.
func logAxis(low, high float64) axis {
	if high <= 0 || low <= 0 || math.IsInf(low, 1) {
		low, high = 1, 10
	}
	// A bar that starts at its own value would be invisible.
	first, last := math.Floor(math.Log10(low*0.8)), math.Ceil(math.Log10(high))
	a := axis{log: true, low: math.Pow(10, first), high: math.Pow(10, max(last, first+1))}
	for v := a.low; v <= a.high*1.001; v *= 10 {
		a.ticks = append(a.ticks, v)
	}
	return a
}

// linearAxis starts at zero and has four to eight round ticks.
func linearAxis(high float64) axis {
	if high <= 0 {
		high = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(high)))
	switch {
	case high/step <= 2:
		step /= 4
	case high/step <= 4:
		step /= 2
	}
	a := axis{high: math.Ceil(high/step) * step}
	for i := 0; float64(i)*step <= a.high*1.001; i++ {
		a.ticks = append(a.ticks, float64(i)*step)
	}
	return a
}

// at is the position of a value.
func (a axis) at(v float64) float64 {
	if a.log {
		return math.Log10(max(v, a.low)/a.low) / math.Log10(a.high/a.low)
	}
	return v / a.high
}
