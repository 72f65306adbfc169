package main

import (
	"errors"
	"flag"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// runAsProgram in the environment makes the test binary the program itself. The
// replicas that it starts inherit it.
const runAsProgram = "SCHEDULED_JOB_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runAsProgram) != "" {
		os.Exit(run(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}

func TestFlags(t *testing.T) {
	t.Setenv("REDIS_URL", "redis://h:1")
	opts, err := parseDemo([]string{"-for", "60s", "-color", "never"}, os.Stderr)
	if err != nil || opts.duration != time.Minute || opts.redisURL != "redis://h:1" || opts.color {
		t.Errorf("%+v, %v", opts, err)
	}
	for _, c := range []struct{ args, want string }{
		{"-for=soon", `"soon"`},
		{"-for=10ms", "10ms"},
		{"-color=blue", `"blue"`},
		{"more", `"more"`},
	} {
		var out strings.Builder
		if _, err := parseDemo([]string{c.args}, &out); err == nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%s: %v, printed %q", c.args, err, out.String())
		}
	}
	if _, err := parseDemo([]string{"-h"}, new(strings.Builder)); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("-h: %v", err)
	}
}
