package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
)

// startOnFreePort starts the server for the first time, on a port that is free.
func (s *Server) startOnFreePort() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var err error
	for range portTries {
		s.port = randomPort()
		if err = s.run(); !errors.Is(err, errPortTaken) {
			break
		}
	}
	if err != nil {
		return s.failed("start", err)
	}
	return nil
}

// startOnSamePort starts the server again. If another process has taken the port, it
// tries again for a while.
func (s *Server) startOnSamePort() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var final error
	err := poll(ctx, nil, func() error {
		final = s.run()
		if errors.Is(final, errPortTaken) {
			return final
		}
		return nil
	})
	if err := errors.Join(err, final); err != nil {
		return s.failed("restart", err)
	}
	return nil
}

// run starts one process and returns when it serves, or why it does not.
//
// Servers say in different words that a port is taken, so run looks for itself: before
// the start, and once more if the start has failed.
func (s *Server) run() error {
	if err := s.portsFree(); err != nil {
		return err
	}
	err := s.serve()
	if err == nil {
		return nil
	}
	if taken := s.portsFree(); taken != nil {
		return taken
	}
	return err
}

// serve is run without a look at the port.
func (s *Server) serve() error {
	if err := s.spawn(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := poll(ctx, s.proc.done, func() error { return s.probe(ctx) })
	if err != nil {
		s.proc.kill()
		return fmt.Errorf("%w (exit: %v)", err, s.proc.err)
	}
	return nil
}

// spawn starts the process and appends its output to the log.
func (s *Server) spawn() error {
	log, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	// The process has its own copy of the descriptor.
	defer func() { _ = log.Close() }()
	cmd := exec.Command(s.binary, s.arguments()...)
	cmd.Env = append(os.Environ(), s.env...)
	cmd.Stdout, cmd.Stderr = log, log
	proc, err := startProcess(cmd)
	if err == nil {
		s.proc = proc
	}
	return err
}

// probe returns nil if this very process serves. PING does not tell: another process
// that has taken the port may answer it, and a server that is loading refuses it. INFO
// says which process answers and what state it is in.
func (s *Server) probe(ctx context.Context) error {
	// Another process on the port may accept the connection and then never answer.
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	// go-redis logs each dial that fails, and a few failures are normal here.
	conn, err := net.DialTimeout("tcp", s.Addr(), probeTimeout)
	if err != nil {
		return err
	}
	_ = conn.Close()
	info, err := s.info(ctx)
	if err != nil {
		return err
	}
	wanted := []string{fmt.Sprintf("process_id:%d", s.proc.pid())}
	if s.sentinel == "" { // a sentinel has nothing to load
		wanted = append(wanted, "loading:0")
	}
	if err := checkInfo(info, wanted...); err != nil {
		return err
	}
	if s.version == "" {
		s.version = infoVersion(info)
	}
	return nil
}
