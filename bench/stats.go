package main

import (
	"math"
	"slices"
)

// quantile is the nearest-rank quantile of values, for 0 < q <= 1: always one of the
// values, never one in between. Without values it is NaN.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	rank := int(math.Ceil(q * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}

// median is the middle of values, or the mean of the two in the middle. Without values it
// is NaN.
func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// ratios divides the value of each round by the floor's value in the same round, so that
// what disturbed both cancels out.
func ratios(values, floor []float64) []float64 {
	var out []float64
	for i := range min(len(values), len(floor)) {
		out = append(out, values[i]/floor[i])
	}
	return out
}
