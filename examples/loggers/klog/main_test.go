package main

import (
	"bytes"
	"flag"
	"strings"
	"testing"

	"k8s.io/klog/v2"

	"github.com/redisleader/redisleader/examples/loggers/election"
)

// capture sends what klog writes to a buffer. Its settings are the process's own.
func capture(t *testing.T, verbosity string) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	flags := flag.NewFlagSet("klog", flag.PanicOnError)
	klog.InitFlags(flags)
	if err := flags.Parse([]string{"-logtostderr=false", "-v=" + verbosity}); err != nil {
		t.Fatal(err)
	}
	klog.SetOutput(&out)
	return &out
}

func TestLines(t *testing.T) {
	out := capture(t, "0")
	if err := election.Run(t.Context(), klog.Background()); err != nil {
		t.Fatal(err)
	}
	klog.Flush()
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	want := []string{`"Became leader"`, `"Term ended"`, `"Lock released"`}
	if len(lines) != len(want) {
		t.Fatalf("%q", lines)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, "I") || !strings.Contains(line, want[i]) || !strings.Contains(line, `name="report-scheduler" identity="replica-1" fence=`) {
			t.Errorf("%s", line)
		}
	}
}

func TestRepeatedErrorsAreVerbose(t *testing.T) {
	for verbosity, want := range map[string]bool{"0": false, "1": true} {
		out := capture(t, verbosity)
		klog.Background().V(1).Info("Cannot renew the lease", "times", 2)
		klog.Flush()
		if got := out.Len() > 0; got != want {
			t.Errorf("with -v=%s V(1) shows: %t", verbosity, got)
		}
	}
}
