package redistest

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Kill ends the server the hard way (SIGKILL) and returns when it is gone. It
// does nothing to a server that is down.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// Shutdown ends the server with SHUTDOWN NOSAVE and returns when it is gone.
// A frozen server is thawed for it, one that is down stays down. The test fails
// if the server refuses.
func (s *Server) Shutdown() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.ended() {
		return
	}
	// Fails only where nothing can be frozen, or when it ends right now.
	_ = s.proc.thaw()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := s.sendShutdown(ctx)
	// A server that obeys just closes the connection, so that the process tells
	// more than the error; only a reply means that it refused.
	var reply redis.Error
	if errors.As(err, &reply) || !s.proc.wait(startTimeout) {
		s.tb.Fatalf("redistest: shutdown of %s: %v\n%s", s.Addr(), err, s.Log())
	}
}

// sendShutdown sends the command once.
func (s *Server) sendShutdown(ctx context.Context) error {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	return client.Do(ctx, "SHUTDOWN", "NOSAVE").Err()
}

// Restart starts a server that is down again, on the same port and with the
// same directory and config, and returns when it serves. The test fails if the
// server still runs or does not come up.
func (s *Server) Restart() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	// A test may have sent SHUTDOWN itself, so the process gets time to end.
	s.restart(stopTimeout)
}

// restart is Restart of a server that ends within the time given.
func (s *Server) restart(within time.Duration) {
	s.tb.Helper()
	if !s.proc.wait(within) {
		s.tb.Fatalf("redistest: restart of %s, which still runs", s.Addr())
	}
	if err := s.startAgain(); err != nil {
		s.tb.Fatalf("redistest: redis-server did not restart: %v\n%s", err, s.Log())
	}
}

// Freeze stops the process (SIGSTOP): its connections stay open, nothing is
// answered. On Linux nothing is answered any more from the moment it returns.
// The test fails if the server is down, and always on Windows.
func (s *Server) Freeze() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.freeze(); err != nil {
		s.tb.Fatalf("redistest: freeze %s: %v", s.Addr(), err)
	}
}

// Thaw lets a frozen server go on (SIGCONT); it then answers what arrived in
// the meantime. It fails the test where Freeze does.
func (s *Server) Thaw() {
	s.tb.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.thaw(); err != nil {
		s.tb.Fatalf("redistest: thaw %s: %v", s.Addr(), err)
	}
}

// stop is the cleanup. It finds no process if the first start failed.
func (s *Server) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc != nil {
		s.proc.stop(stopTimeout)
	}
}
