//go:build unix

package main

import "syscall"

// canFreeze says whether a process can be frozen from outside.
const canFreeze = true

// politely is how a process is asked to end, for the timeline.
const politely = "SIGTERM"

func (c *child) terminate() error { return c.cmd.Process.Signal(syscall.SIGTERM) }

// freeze stops the process between two instructions; thaw lets it go on with the next one.
func (c *child) freeze() error { return c.cmd.Process.Signal(syscall.SIGSTOP) }

func (c *child) thaw() error { return c.cmd.Process.Signal(syscall.SIGCONT) }
