package redistest

import (
	"testing"

	"github.com/redis/go-redis/v9"
)

// Start is [Launch] for a test: the server has a temporary directory and stops when tb
// ends, and tb fails if the server does not come up.
func Start(tb testing.TB, config ...string) *Server {
	tb.Helper()
	return StartEnv(tb, nil, config...)
}

// StartEnv is Start with additions to the environment of the process, each of the form
// "NAME=value". Restart keeps them.
func StartEnv(tb testing.TB, env []string, config ...string) *Server {
	tb.Helper()
	s, err := launch(tb.TempDir(), env, config)
	if err != nil {
		tb.Fatal(err)
	}
	s.belongTo(tb)
	return s
}

// belongTo ties a server that has just been launched to a test.
func (s *Server) belongTo(tb testing.TB) {
	s.tb = tb
	tb.Cleanup(s.Stop)
}

// Client returns a new client of this server that has all rights. It is closed when tb
// ends.
func (s *Server) Client(tb testing.TB) *redis.Client {
	client := redis.NewClient(s.adminOptions())
	// Close fails only if the test has closed the client already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// Shutdown stops the server with SHUTDOWN NOSAVE and returns when the process has
// ended. It thaws a frozen server first, and does nothing to one that is down. The test
// fails if the server refuses.
func (s *Server) Shutdown() {
	s.tb.Helper()
	if err := s.shutdown(); err != nil {
		s.tb.Fatal(err)
	}
}

// Restart starts a server that is down, on the same port and with the same directory
// and config, and returns when it serves. The test fails if the server is still running
// or does not come up.
func (s *Server) Restart() {
	s.tb.Helper()
	// A test may have sent SHUTDOWN itself, so the process gets some time to end.
	if err := s.restart(stopTimeout); err != nil {
		s.tb.Fatal(err)
	}
}

// Freeze stops the process (SIGSTOP): its connections stay open, and nothing is
// answered. On Linux, nothing is answered from the moment Freeze returns. The test fails
// if the server is down, and always on Windows.
func (s *Server) Freeze() {
	s.tb.Helper()
	if err := s.freeze(); err != nil {
		s.tb.Fatal(err)
	}
}

// Thaw lets a frozen server continue (SIGCONT). It then answers what arrived while it
// was frozen. Thaw fails the test where Freeze does.
func (s *Server) Thaw() {
	s.tb.Helper()
	if err := s.thaw(); err != nil {
		s.tb.Fatal(err)
	}
}
