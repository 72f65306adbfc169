package main

import (
	"testing"
	"time"
)

func TestSchedule(t *testing.T) {
	t.Parallel()
	s := schedule{time.Unix(1_700_000_000, 0), period}
	for _, c := range []struct {
		after time.Duration
		want  int64
	}{
		{-time.Hour, -1},
		{-time.Nanosecond, -1},
		{0, 0},
		{period - 1, 0},
		{period, 1},
		{10*period + period/2, 10},
	} {
		if got := s.latest(s.start.Add(c.after)); got != c.want {
			t.Errorf("%v after the start: slot %d, want %d", c.after, got, c.want)
		}
	}
	if slot := s.latest(s.at(7)); slot != 7 {
		t.Errorf("when slot 7 is due: %d", slot)
	}
}
