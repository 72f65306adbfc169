package demo

import (
	"syscall"

	"golang.org/x/sys/windows"
)

// What the system can do to a process, and what it calls the way to ask it to end.
const (
	canFreeze = false
	politely  = "CTRL_BREAK"
)

// attributes: Ctrl-C in a console goes to the show alone, which then stops its replicas.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// terminate is os.Interrupt to the replica. It needs the console that both share.
func (r *replica) terminate() error {
	return windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(r.cmd.Process.Pid))
}

func (r *replica) freeze() {}
func (r *replica) thaw()   {}
