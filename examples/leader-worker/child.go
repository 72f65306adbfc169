package main

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

// childPatience is how long a replica that was asked to stop may take, before it is killed.
const childPatience = 5 * time.Second

// child is a replica: a process that runs this very program with -replica. It cannot outlive the demo: its standard input is a
// pipe whose other end closes with the demo, and on Linux the kernel kills it as well, frozen or not.
type child struct {
	identity string
	cmd      *exec.Cmd
	stdin    io.WriteCloser
	output   io.Reader
	onLine   func(c *child, line []byte) // called for each line of the log, in order
	onExit   func(c *child)              // called once, after the last line

	address  atomic.Pointer[string] // of its probes, once known
	expected atomic.Bool            // it was told to end
	done     chan struct{}          // closed when it has ended and onExit has returned
}

// start starts the process. env is added to the environment.
func (c *child) start(args, env []string) error {
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
	go c.run(started) // joined by stop
	return <-started
}

// run starts the process, reads its log and reaps it. It stays on one thread, because to Linux the parent of a process is the
// thread that started it.
func (c *child) run(started chan<- error) {
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
	c.onExit(c)
}

func (c *child) readLog() {
	lines := bufio.NewReader(c.output)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			c.onLine(c, line)
		}
		if err != nil {
			return
		}
	}
}

// kill ends the process in the middle of whatever it does.
func (c *child) kill() {
	c.expected.Store(true)
	_ = c.cmd.Process.Kill() // fails only if it has ended
}

// ask asks the process to end in good order.
func (c *child) ask() {
	c.expected.Store(true)
	_ = c.terminate() // fails only if it has ended
}

// stop ends the process in good order if it can, and returns when it has ended.
func (c *child) stop() {
	c.ask()
	_ = c.thaw() // a frozen process sees no signal but SIGKILL
	select {
	case <-c.done:
	case <-time.After(childPatience):
		c.kill()
		<-c.done
	}
}

// exit says how the process ended, once it has.
func (c *child) exit() string { return c.cmd.ProcessState.String() }

func (c *child) String() string { return fmt.Sprintf("%s (pid %d)", c.identity, c.cmd.Process.Pid) }
