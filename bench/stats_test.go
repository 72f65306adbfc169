package main

import (
	"math"
	"slices"
	"testing"
)

func TestQuantileIsNearestRank(t *testing.T) {
	values := []float64{5, 1, 4, 2, 3}
	for q, want := range map[float64]float64{0.01: 1, 0.2: 1, 0.21: 2, 0.5: 3, 0.99: 5, 1: 5} {
		if got := quantile(values, q); got != want {
			t.Errorf("quantile(%v) = %v, want %v", q, got, want)
		}
	}
	if !slices.Equal(values, []float64{5, 1, 4, 2, 3}) {
		t.Errorf("quantile changed its values: %v", values)
	}
}

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   float64
	}{{[]float64{7}, 7}, {[]float64{3, 1}, 2}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 3, 2}, 2.5}} {
		if got := median(c.values); got != c.want {
			t.Errorf("median(%v) = %v, want %v", c.values, got, c.want)
		}
	}
}

func TestNothingMeasuredIsNoNumber(t *testing.T) {
	for name, got := range map[string]float64{"quantile": quantile(nil, 0.5), "median": median(nil), "mean": mean(nil)} {
		if !math.IsNaN(got) {
			t.Errorf("%s of nothing = %v", name, got)
		}
	}
}

func TestRatiosPairRounds(t *testing.T) {
	got := ratios([]float64{2, 9, 8}, []float64{1, 3})
	if !slices.Equal(got, []float64{2, 3}) {
		t.Errorf("ratios = %v", got)
	}
}
