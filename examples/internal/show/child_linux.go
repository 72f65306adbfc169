package show

import "syscall"

// apart is how a replica is started: Ctrl-C in a terminal goes to the demo alone, which
// then stops its replicas, and the kernel kills a replica when the thread that started
// it ends.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
