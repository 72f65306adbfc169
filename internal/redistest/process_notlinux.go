//go:build !linux

package redistest

import "os/exec"

// dieWithParent has no counterpart here: only the cleanup ends the process.
func dieWithParent(*exec.Cmd) {}

// awaitFrozen trusts that the signal takes effect soon: only Linux shows the
// state of a process in a file.
func (p *process) awaitFrozen() error { return nil }
