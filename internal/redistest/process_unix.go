//go:build unix

package redistest

import "syscall"

// terminate asks the process to end.
func (p *process) terminate() error {
	return p.cmd.Process.Signal(syscall.SIGTERM)
}

// freeze stops the process in its tracks.
func (p *process) freeze() error {
	if err := p.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		return err
	}
	return p.awaitFrozen()
}

// thaw lets a frozen process go on.
func (p *process) thaw() error {
	return p.cmd.Process.Signal(syscall.SIGCONT)
}
