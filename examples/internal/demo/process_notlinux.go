//go:build unix && !linux

package demo

import "syscall"

// attributes: Ctrl-C in a terminal goes to the show alone, which then stops its replicas.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
