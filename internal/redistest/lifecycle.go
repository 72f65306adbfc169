package redistest

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// Stop stops the server with SIGTERM, or with SIGKILL if that does not end it, and
// returns when the process has ended. It does nothing to a server that is down.
func (s *Server) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.stop(stopTimeout)
}

// Kill kills the server (SIGKILL) and returns when the process has ended. It does
// nothing to a server that is down.
func (s *Server) Kill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.proc.kill()
}

// shutdown is Shutdown.
func (s *Server) shutdown() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc.ended() {
		return nil
	}
	// Fails only where nothing can be frozen, or if the process ends right now.
	_ = s.proc.thaw()
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := s.sendShutdown(ctx)
	// A server that obeys just closes the connection, so the end of the process tells
	// more than the error. Only a reply means that the server refused.
	var reply redis.Error
	if errors.As(err, &reply) || !s.proc.wait(startTimeout) {
		return s.failed("shutdown", err)
	}
	return nil
}

// sendShutdown sends the command once.
func (s *Server) sendShutdown(ctx context.Context) error {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	return client.Do(ctx, "SHUTDOWN", "NOSAVE").Err()
}

// restart is Restart. It waits a limited time for the process to end.
func (s *Server) restart(within time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.proc.wait(within) {
		return s.failed("restart", errors.New("it is still running"))
	}
	return s.startOnSamePort()
}

// freeze is Freeze.
func (s *Server) freeze() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.freeze(); err != nil {
		return s.failed("freeze", err)
	}
	return nil
}

// thaw is Thaw.
func (s *Server) thaw() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.proc.thaw(); err != nil {
		return s.failed("thaw", err)
	}
	return nil
}
