package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain makes the test binary the program itself where DEMO says so. (With DEMO=play,
// the init function of demo.go has played the show by now.) Under -race the replicas run
// with the race detector, too.
func TestMain(m *testing.M) {
	if os.Getenv("DEMO") != "" {
		main()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
