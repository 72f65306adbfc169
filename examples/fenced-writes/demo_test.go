package main

import (
	"runtime"
	"strings"
	"testing"

	"github.com/redisleader/redisleader/internal/exampletest"
	"github.com/redisleader/redisleader/internal/redistest"
)

func TestDemo(t *testing.T) {
	t.Parallel()
	output, status := exampletest.Play(t)
	if status != 0 {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	wanted := []string{"SIGKILL", "fencing token", "PASSED"}
	if runtime.GOOS != "windows" {
		wanted = append(wanted, "SIGSTOP", "its late write is REJECTED", "issued twice without it: 1")
	}
	for _, want := range wanted {
		if !strings.Contains(output, want) {
			t.Errorf("the output lacks %q:\n%s", want, output)
		}
	}
}

func TestDemoOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	output, status := exampletest.Play(t, "-redis", "redis://:hidden-word@"+server.Addr()+"/0")
	if status != 0 || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d:\n%s", status, output)
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestDemoFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	output, status := exampletest.Play(t, "-redis", "redis://:hidden-word@127.0.0.1:1/0")
	if status != 1 || !strings.Contains(output, "-redis") || strings.Contains(output, "hidden-word") {
		t.Errorf("exit status %d: %s", status, output)
	}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	once, twice := []int64{1, 2, 3}, []int64{1, 2, 2}
	rising, late := []int64{101, 102, 102}, []int64{101, 102, 101}
	for name, c := range map[string]struct {
		fenced, unfenced, tokens []int64
		want                     string // empty: passes
	}{
		"good":                {once, twice, late, ""},
		"nothing was frozen":  {once, once, rising, ""},
		"a fence with a hole": {twice, twice, late, "invoices issued twice behind the fence: 1"},
		"a harmless control":  {once, once, late, "invoices issued twice without it: 0"},
	} {
		var failed []string
		for _, check := range judge(c.fenced, c.unfenced, c.tokens) {
			if !check.Holds {
				failed = append(failed, check.Text)
			}
		}
		if (c.want == "") != (len(failed) == 0) || !strings.Contains(strings.Join(failed, "\n"), c.want) {
			t.Errorf("%s: failed %q", name, failed)
		}
	}
}
