//go:build !linux

package redistest

import "os/exec"

// dieWithParent does nothing: only Linux can kill a process together with its parent.
func dieWithParent(*exec.Cmd) {}

// awaitFrozen does nothing: only Linux shows the state of a process in a file. The
// signal takes effect soon.
func (p *process) awaitFrozen() error { return nil }
