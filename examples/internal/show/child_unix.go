//go:build unix && !linux

package show

import "syscall"

// apart is how a replica is started: Ctrl-C in a terminal goes to the demo alone, which
// then stops its replicas.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
