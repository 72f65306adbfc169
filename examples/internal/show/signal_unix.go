//go:build unix

package show

import "syscall"

// CanFreeze says whether a process can be frozen from outside.
const CanFreeze = true

// Politely is how a process is asked to end, for the timeline.
const Politely = "SIGTERM"

func (c *Child) terminate() error { return c.cmd.Process.Signal(syscall.SIGTERM) }

// Freeze stops the process between two instructions; Thaw lets it go on with the next
// one.
func (c *Child) Freeze() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *Child) Thaw() error { return c.cmd.Process.Signal(syscall.SIGCONT) }
