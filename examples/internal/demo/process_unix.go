//go:build unix

package demo

import "syscall"

// What the system can do to a process, and what it calls the way to ask it to end.
const (
	canFreeze = true
	politely  = "SIGTERM"
)

func (r *replica) terminate() error { return r.cmd.Process.Signal(syscall.SIGTERM) }

// freeze stops the process between two instructions; thaw lets it go on with the next.
// Both fail only if it has ended.
func (r *replica) freeze() { _ = r.cmd.Process.Signal(syscall.SIGSTOP) }
func (r *replica) thaw()   { _ = r.cmd.Process.Signal(syscall.SIGCONT) }
