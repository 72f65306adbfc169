package demo

import "syscall"

// attributes: Ctrl-C in a terminal goes to the show alone, which then stops its replicas,
// and the kernel kills a replica when the thread that started it ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
