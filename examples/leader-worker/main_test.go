package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// runAsProgram in the environment makes the test binary the program itself. The
// replicas that it starts inherit it; under -race all of them run with the race
// detector.
const runAsProgram = "LEADER_WORKER_RUN"

func TestMain(m *testing.M) {
	if os.Getenv(runAsProgram) != "" {
		os.Exit(run(os.Args[1:]))
	}
	goleak.VerifyTestMain(m)
}
