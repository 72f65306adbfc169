package show

import "syscall"

// apart is how a replica is started: Ctrl-C in a console goes to the demo alone, which
// then stops its replicas.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}
