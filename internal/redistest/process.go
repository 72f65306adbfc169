package redistest

import (
	"os/exec"
	"runtime"
	"time"
)

// process is one run of redis-server, from its start until it is reaped.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed once the process is reaped
	err  error         // how it ended; to be read after done
}

// startProcess starts cmd and the goroutine that reaps it.
func startProcess(cmd *exec.Cmd) (*process, error) {
	dieWithParent(cmd)
	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.done
		return nil, err
	}
	return p, nil
}

// run starts the process, tells started, and reaps the process. The kernel
// sends the parent-death signal when the starting *thread* ends, which may be
// long before the test does. Therefore the goroutine that starts the process
// is locked to its thread and stays until the process has ended.
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

// wait reports whether the process ended within the time given.
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

// kill ends the process at once, frozen or not, and waits for it.
func (p *process) kill() {
	// The only failure is that it has ended already.
	_ = p.cmd.Process.Kill()
	<-p.done
}

// stop ends the process in good order if it can within the time given, and
// kills it otherwise.
func (p *process) stop(within time.Duration) {
	// A stopped process does not see TERM before it continues. Both calls fail
	// only when it has ended already.
	_ = p.thaw()
	_ = p.terminate()
	if !p.wait(within) {
		p.kill()
	}
}
