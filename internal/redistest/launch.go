package redistest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
)

// errPortTaken says that another process got hold of the port first.
var errPortTaken = errors.New("port is taken")

// startAnywhere starts the server on ports it draws until one is free.
func (s *Server) startAnywhere() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := s.drawPorts(); err != nil {
			return err
		}
		if err := s.launch(); !errors.Is(err, errPortTaken) {
			return err
		}
	}
}

// startAgain starts the server on the port it had, and insists on it for a
// while if somebody else has taken it.
func (s *Server) startAgain() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	var final error
	err := poll(ctx, nil, func() error {
		final = s.launch()
		if errors.Is(final, errPortTaken) {
			return final
		}
		return nil
	})
	return errors.Join(err, final)
}

// drawPorts chooses the ports for the first start.
func (s *Server) drawPorts() (err error) {
	if s.port, err = freePort(); err != nil {
		return err
	}
	if s.config.value("--cluster-enabled") == "yes" {
		s.bus, err = freePort()
	}
	return err
}

// launch runs one process and returns when it serves, or why it does not.
func (s *Server) launch() error {
	printed := len(s.Log())
	if err := s.spawn(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	err := poll(ctx, s.proc.done, func() error { return s.probe(ctx) })
	if err == nil {
		return nil
	}
	s.proc.kill()
	if strings.Contains(s.Log()[printed:], "Address already in use") {
		return errPortTaken
	}
	return fmt.Errorf("%w (exit: %v)", err, s.proc.err)
}

// spawn starts the process with its output appended to the log.
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

// probe returns nil when this very process serves. A bare PING could be
// answered by a stranger who took the port, or be refused while loading; INFO
// tells who answers and in what state it is.
func (s *Server) probe(ctx context.Context) error {
	// Whoever else has the port may accept and then say nothing.
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	// go-redis complains aloud when it cannot connect, which is normal here.
	conn, err := net.DialTimeout("tcp", s.Addr(), probeTimeout)
	if err != nil {
		return err
	}
	_ = conn.Close()
	info, err := s.info(ctx)
	if err != nil {
		return err
	}
	ready := "loading:0"
	if s.sentinel != "" {
		ready = "redis_mode:sentinel" // there is nothing to load
	}
	return checkInfo(info, fmt.Sprintf("process_id:%d", s.proc.pid()), ready)
}
