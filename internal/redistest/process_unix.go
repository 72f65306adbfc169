//go:build unix

package redistest

import "syscall"

// terminate asks the process to end.
func (p *process) terminate() error {
	return p.cmd.Process.Signal(syscall.SIGTERM)
}

// freeze stops the process where it is.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.awaitFrozen()
}

// thaw lets a frozen process continue.
func (p *process) thaw() error {
	return p.cmd.Process.Signal(syscall.SIGCONT)
}
