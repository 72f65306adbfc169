package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// missing is the text of a cell without a value.
const missing = "–"

// number prints a value with three significant digits, and as an integer from 100 up.
func number(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return missing
	case a >= 100:
		return fmt.Sprintf("%.0f", v)
	case a >= 10:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.2f", v)
	}
}

// nanoseconds prints a duration, given in nanoseconds, in a suitable unit.
func nanoseconds(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return missing
	case a < float64(time.Microsecond):
		return number(v) + " ns"
	case a < float64(time.Millisecond):
		return number(v/float64(time.Microsecond)) + " µs"
	case a < float64(time.Second):
		return number(v/float64(time.Millisecond)) + " ms"
	default:
		return number(v/float64(time.Second)) + " s"
	}
}

// times prints a ratio.
func times(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return missing
	}
	return number(v) + "×"
}

// notMeasured is printed instead of a value that could not be measured.
func notMeasured(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ") // a cell is one line
	return "not measured: " + strings.ReplaceAll(text, "|", "/")
}
