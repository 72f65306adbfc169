package redistest

import (
	"fmt"
	"os"
)

// Suite runs the tests of a package between the start and the end of one server that
// they share. It stands between TestMain and *testing.M, or goleak.VerifyTestMain.
type Suite struct {
	// Tests runs them and returns the exit status: *testing.M.
	Tests interface{ Run() int }

	// Started takes the server before the first test. A server from [Launch] must not be
	// asked for all that one from [Start] can do.
	Started func(*Server)
}

// Run makes Suite what goleak.VerifyTestMain takes. Without a server the tests fail.
func (s Suite) Run() int {
	dir, err := os.MkdirTemp("", "redistest")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		var server *Server
		if server, err = Launch(dir); err == nil {
			defer server.Stop()
			s.Started(server)
			return s.Tests.Run()
		}
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}
