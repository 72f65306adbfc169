package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"go.uber.org/zap/zapcore"

	"github.com/redisleader/redisleader/examples/loggers/election"
)

func TestLines(t *testing.T) {
	var out bytes.Buffer
	logger := newLogger(&out, zapcore.InfoLevel)
	if err := election.Run(t.Context(), logger); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for line := range bytes.Lines(out.Bytes()) {
		var entry struct {
			Level, Msg, Name, Identity string
			Fence                      int64
		}
		if err := json.Unmarshal(line, &entry); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if entry.Name != "report-scheduler" || entry.Identity != "replica-1" || entry.Fence == 0 || entry.Level != "info" {
			t.Errorf("%s", line)
		}
		messages = append(messages, entry.Msg)
	}
	if want := []string{"Became leader", "Term ended", "Lock released"}; !slices.Equal(messages, want) {
		t.Errorf("messages %q", messages)
	}
}

func TestRepeatedErrorsAreVerbose(t *testing.T) {
	for level, want := range map[zapcore.Level]bool{zapcore.InfoLevel: false, zapcore.DebugLevel: true} {
		var out bytes.Buffer
		newLogger(&out, level).V(1).Info("Cannot renew the lease", "times", 2)
		if got := out.Len() > 0; got != want {
			t.Errorf("at level %v V(1) shows: %t", level, got)
		}
	}
}
