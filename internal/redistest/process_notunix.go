//go:build !unix

package redistest

import "errors"

// terminate kills the process: there is no gentler way on this system.
func (p *process) terminate() error {
	return p.cmd.Process.Kill()
}

// freeze is not possible on this system.
func (p *process) freeze() error {
	return errors.ErrUnsupported
}

// thaw is not possible on this system.
func (p *process) thaw() error {
	return errors.ErrUnsupported
}
