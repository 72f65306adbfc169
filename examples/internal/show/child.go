package show

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"time"
)

// patience is how long a replica that was asked to stop may take, before it is killed.
const patience = 5 * time.Second

// Child is a replica: a process that runs this very program with other arguments. It
// cannot outlive the demo: its standard input is a pipe whose other end closes with the
// demo, and on Linux the kernel kills it as well, frozen or not.
type Child struct {
	Identity string
	OnLine   func(line []byte) // called for each line of its standard error, in order
	OnExit   func()            // called once, after the last line

	cmd      *exec.Cmd
	stdin    io.WriteCloser
	output   io.Reader
	expected atomic.Bool   // it was told to end
	done     chan struct{} // closed when it has ended and OnExit has returned
}

// Start starts the process. env is added to the environment.
func (c *Child) Start(args, env []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	c.done = make(chan struct{})
	c.cmd = exec.Command(program, args...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.SysProcAttr = apart()
	if c.stdin, err = c.cmd.StdinPipe(); err != nil {
		return err
	}
	if c.output, err = c.cmd.StderrPipe(); err != nil {
		return err
	}
	started := make(chan error)
	go c.run(started) // joined by Stop
	return <-started
}

// run starts the process, reads its log and reaps it. It stays on one thread, because
// to Linux the parent of a process is the thread that started it.
func (c *Child) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer close(c.done)
	err := c.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	c.readLog()
	_ = c.cmd.Wait() // how it ended is in cmd.ProcessState
	c.OnExit()
}

func (c *Child) readLog() {
	lines := bufio.NewReader(c.output)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.OnLine(line)
		}
		if err != nil {
			return
		}
	}
}

// Kill ends the process in the middle of whatever it does.
func (c *Child) Kill() {
	c.expected.Store(true)
	_ = c.cmd.Process.Kill() // fails only if it has ended
}

// Ask asks the process to end in good order.
func (c *Child) Ask() {
	c.expected.Store(true)
	_ = c.terminate() // fails only if it has ended
}

// Stop ends the process in good order if it can, and returns when it has ended.
func (c *Child) Stop() {
	c.Ask()
	_ = c.Thaw() // a frozen process sees no signal but SIGKILL
	select {
	case <-c.done:
	case <-time.After(patience):
		c.Kill()
		<-c.done
	}
}

// Done is closed when the process has ended and OnExit has returned.
func (c *Child) Done() <-chan struct{} { return c.done }

// Expected reports whether the process was told to end.
func (c *Child) Expected() bool { return c.expected.Load() }

// Exit says how the process ended, once it has.
func (c *Child) Exit() string { return c.cmd.ProcessState.String() }

// Pid is the number of the process, once it is started.
func (c *Child) Pid() int { return c.cmd.Process.Pid }

func (c *Child) String() string { return fmt.Sprintf("%s (pid %d)", c.Identity, c.Pid()) }
