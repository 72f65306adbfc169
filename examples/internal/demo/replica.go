package demo

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"
)

// patience is how long a replica that was asked to end may take, before it is killed.
const patience = 10 * time.Second

// replica is a process that runs this very program. It cannot outlive the show: its
// standard input is a pipe whose other end closes with the show, and on Linux the kernel
// kills it as well, frozen or not.
type replica struct {
	identity string
	onLine   func(line []byte) // called for each line of its standard error, in order
	onExit   func()            // called once, after the last line

	cmd     *exec.Cmd
	stdin   io.WriteCloser // held, never written to
	stderr  io.Reader
	asked   atomic.Bool   // to end
	killed  atomic.Bool   // in the show
	address atomic.Value  // string: of its HTTP endpoints, once known
	done    chan struct{} // closed when it has ended and onExit has returned
}

// start starts the process.
func (r *replica) start(env []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r.done = make(chan struct{})
	r.cmd = exec.Command(program)
	r.cmd.Env = append(os.Environ(), env...)
	r.cmd.SysProcAttr = attributes()
	if r.stdin, err = r.cmd.StdinPipe(); err != nil {
		return err
	}
	if r.stderr, err = r.cmd.StderrPipe(); err != nil {
		return err
	}
	started := make(chan error)
	go r.run(started) // joined by wait
	return <-started
}

// run starts the process, reads its log and reaps it. It stays on one thread, because to
// Linux the parent of a process is the thread that started it.
func (r *replica) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(r.done)
	err := r.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	lines := bufio.NewReader(r.stderr)
	for err == nil {
		var line []byte
		if line, err = lines.ReadBytes('\n'); len(line) > 0 {
			r.onLine(line)
		}
	}
	_ = r.cmd.Wait() // how it ended is in cmd.ProcessState
	r.onExit()
}

// kill ends the process in the middle of whatever it does.
func (r *replica) kill() {
	r.killed.Store(true)
	_ = r.cmd.Process.Kill() // fails only if it has ended
}

// ask asks the process to end in good order, once. One that cannot be asked is killed.
func (r *replica) ask() {
	if r.asked.Swap(true) {
		return
	}
	if err := r.terminate(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		r.kill()
	}
	r.thaw() // a frozen process sees no signal but SIGKILL
}

// wait waits for the end of a process that was told to end.
func (r *replica) wait() {
	select {
	case <-r.done:
	case <-time.After(patience):
		_ = r.cmd.Process.Kill()
		<-r.done
	}
}

// endedWell reports whether a process that has ended was told to, and did as it was told.
func (r *replica) endedWell() bool {
	return r.killed.Load() || r.asked.Load() && r.cmd.ProcessState.Success()
}

// inspector keeps no connection, so that a replica that is asked once does not wait for
// another request.
var inspector = &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

// get asks a replica for one of its endpoints, as a platform or an operator would. The
// code is 0 if it does not answer.
func (r *replica) get(path string) (code int, body string) {
	address, _ := r.address.Load().(string)
	response, err := inspector.Get("http://" + address + path)
	if err != nil {
		return 0, ""
	}
	defer func() { _ = response.Body.Close() }()
	text, _ := io.ReadAll(response.Body)
	return response.StatusCode, string(text)
}
