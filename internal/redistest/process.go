package redistest

import (
	"os/exec"
	"runtime"
	"time"
)

// process is one run of a server, from its start until it has been reaped.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the process has been reaped
	err  error         // how the process ended; to be read after done
}

// startProcess starts cmd and the goroutine that reaps it.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started) // ends with the process
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// run starts the process, reports that to started, and reaps the process.
//
// The kernel kills the process when the *thread* that started it ends, which may be long
// before the test does. Therefore the goroutine that starts the process is locked to its
// thread and stays there until the process has ended.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(p.done)
	err := p.cmd.Start()
	started <- err
	if err == nil {
		p.err = p.cmd.Wait()
	}
}

// pid is the process id.
func (p *process) pid() int {
	return p.cmd.Process.Pid
}

// ended reports whether the process has ended.
func (p *process) ended() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// wait waits for the process to end and reports whether it did in time.
func (p *process) wait(within time.Duration) bool {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-p.done:
		return true
	case <-timer.C:
		return false
	}
}

// kill kills the process, frozen or not, and waits until it has ended.
func (p *process) kill() {
	// Fails only if the process has ended already.
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop asks the process to end, kills it if it does not do so in time, and waits until
// it has ended.
func (p *process) stop(within time.Duration) {
	// A frozen process does not see SIGTERM until it continues. Both calls fail only if
	// the process has ended already.
	_ = p.thaw()
	_ = p.terminate()
	if !p.wait(within) {
		p.kill()
	}
}
