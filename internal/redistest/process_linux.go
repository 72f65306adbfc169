package redistest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// dieWithParent makes the kernel kill the process when the thread that started it ends;
// see process.run.
func dieWithParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// awaitFrozen waits until the process has stopped. The signal is asynchronous, so
// without this wait the process might still answer a command or two.
func (p *process) awaitFrozen() error {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	return poll(ctx, p.done, func() error {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid()))
		if err != nil {
			return err
		}
		// The line is "pid (name) state ...", and the name may contain anything.
		state := stat[bytes.LastIndexByte(stat, ')')+1:]
		if !bytes.HasPrefix(state, []byte(" T")) {
			return fmt.Errorf("not stopped: %s", stat)
		}
		return nil
	})
}
