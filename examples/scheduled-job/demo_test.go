package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/redisleader/redisleader/internal/exampletest"
	"github.com/redisleader/redisleader/internal/redistest"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	output, status := exampletest.Play(t, "-for", "4s")
	if status != 0 {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	for _, want := range []string{"SIGKILL", "slots claimed with the token", "PASSED"} {
		if !strings.Contains(output, want) {
			t.Errorf("the output lacks %q:\n%s", want, output)
		}
	}
}

func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	output, status := exampletest.Play(t, "-for", "3s", "-redis", "redis://:hidden-word@"+server.Addr()+"/0")
	if status != 0 || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestDemoFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:hidden-word@127.0.0.1:1/0", "nonsense://u:hidden-word@h", "redis://u:hidden-word%zz@h"} {
		output, status := exampletest.Play(t, "-redis", url)
		if status != 1 || !strings.Contains(output, "-redis") || strings.Contains(output, "hidden-word") {
			t.Errorf("%s: exit status %d: %s", url, status, output)
		}
	}
}

// recorded is outboxes as a good show leaves them: slots 3 and 4 were due while nobody
// led.
func recorded() (run, forgetful, repeating []int64) {
	slots := func(numbers ...int64) (all []int64) {
		for _, n := range numbers {
			all = append(all, n*demoPeriod.Milliseconds())
		}
		return all
	}
	return slots(1, 2, 3, 4, 5, 6, 7), slots(1, 2, 5, 6), slots(1, 2, 1, 2, 3, 4, 5, 6)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	due := at(6*demoPeriod.Milliseconds() + 1)
	for name, c := range map[string]struct {
		spoil func(run, forgetful, repeating *[]int64)
		want  string // empty: passes
	}{
		"good":            {func(_, _, _ *[]int64) {}, ""},
		"doubled":         {func(run, _, _ *[]int64) { *run = slices.Insert(*run, 3, (*run)[3]) }, "5 once,   1 twice or more,   0 never"},
		"missed":          {func(run, _, _ *[]int64) { *run = slices.Delete(*run, 2, 3) }, "5 once,   0 twice or more,   1 never"},
		"the last missed": {func(run, _, _ *[]int64) { *run = (*run)[:5] }, "5 once,   0 twice or more,   1 never"},
		"nothing":         {func(run, _, _ *[]int64) { *run = nil }, "0 once"},
		"out of order":    {func(run, _, _ *[]int64) { (*run)[1], (*run)[2] = (*run)[2], (*run)[1] }, "in order"},
		"a good control":  {func(run, f, _ *[]int64) { *f = *run }, "begins with the slot due next"},
		"another of them": {func(run, _, r *[]int64) { *r = *run }, "goes on after the slot it remembers"},
	} {
		run, forgetful, repeating := recorded()
		c.spoil(&run, &forgetful, &repeating)
		var failed []string
		for _, check := range judge(run, forgetful, repeating, due) {
			if !check.Holds {
				failed = append(failed, check.Text)
			}
		}
		if (c.want == "") != (len(failed) == 0) || !strings.Contains(strings.Join(failed, "\n"), c.want) {
			t.Errorf("%s: failed %q", name, failed)
		}
	}
}
