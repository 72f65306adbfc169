//go:build unix

package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// stopTimeout is how long a candidate may take to end gracefully. A release under a
// fault may take its full time, three times over.
const stopTimeout = 15 * time.Second

// process is a candidate as the test sees it.
//
// Each candidate leads a process group of its own, for two reasons. A signal to the
// group reaches everything in it. And when the test binary dies, the kernel sends
// SIGHUP and SIGCONT to an orphaned group with stopped members, so not even a frozen
// candidate is left behind. Candidates that are not frozen end when their standard
// input does.
type process struct {
	label   string
	history *history
	cmd     *exec.Cmd
	stdin   io.WriteCloser
	stderr  bytes.Buffer // may be read once done is closed

	done chan struct{} // closed when the process is reaped and all its events are in the history
	err  error         // how it ended; may be read once done is closed

	mu     sync.Mutex // guards what follows
	asked  bool       // to end, by SIGTERM
	killed bool       // by the test, on purpose
}

// startProcess starts a candidate whose events go to h.
func startProcess(label string, s settings, h *history) (*process, error) {
	environ, err := s.environ()
	if err != nil {
		return nil, err
	}
	p := &process{label: label, history: h, cmd: exec.Command(os.Args[0]), done: make(chan struct{})}
	p.cmd.Env = environ
	p.cmd.Stderr = &p.stderr
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.follow(stdout) // joined by done
	return p, nil
}

// follow adds the events of the process to the history until it ends, and reaps it.
func (p *process) follow(stdout io.Reader) {
	defer close(p.done)
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil { // the end; a process that was killed may leave half a line
			break
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			e = event{At: monotonic(), Kind: logged, Detail: fmt.Sprintf("not an event: %q", line)}
		}
		e.Process = p.label + e.Process
		p.history.add(e)
	}
	p.err = p.cmd.Wait()
}

// command sends a line to the process.
func (p *process) command(line string) error {
	_, err := io.WriteString(p.stdin, line+"\n")
	return err
}

// terminate asks the process to end, and returns when. It asks only once: a second
// signal would hit a process that no longer handles it.
func (p *process) terminate() (time.Duration, error) {
	p.mu.Lock()
	asked := p.asked
	p.asked = true
	p.mu.Unlock()
	if asked {
		return monotonic(), nil
	}
	return p.signal(terminated, syscall.SIGTERM)
}

// freeze stops the process wherever it is.
func (p *process) freeze() (time.Duration, error) { return p.signal(frozen, syscall.SIGSTOP) }

// thaw lets it continue. What the process does afterwards has later times than the one
// returned.
func (p *process) thaw() (time.Duration, error) { return p.signal(thawed, syscall.SIGCONT) }

// signal records what is about to happen and then sends the signal.
func (p *process) signal(k kind, s os.Signal) (time.Duration, error) {
	at := monotonic()
	p.history.add(event{At: at, Process: p.label, Kind: k})
	return at, p.cmd.Process.Signal(s)
}

// kill ends the process at once, frozen or not, and returns when it is gone.
func (p *process) kill() time.Duration {
	p.mu.Lock()
	p.killed = true
	p.mu.Unlock()
	p.killGroup()
	<-p.done
	at := monotonic()
	p.history.add(event{At: at, Process: p.label, Kind: killed})
	return at
}

// killGroup does nothing to a process that is gone.
func (p *process) killGroup() {
	if !p.ended() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
	}
}

func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits until the process has ended and kills it if that takes too long. It
// returns what was wrong with how it ended.
func (p *process) wait() error {
	select {
	case <-p.done:
	case <-time.After(stopTimeout):
		p.killGroup()
		<-p.done
		return fmt.Errorf("candidate %s did not end by itself within %v", p.label, stopTimeout)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil && !p.killed {
		return fmt.Errorf("candidate %s: %w", p.label, p.err)
	}
	return nil
}
