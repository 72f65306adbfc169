//go:build !unix

package redistest

import "errors"

// terminate ends the process; there is no gentler way here.
func (p *process) terminate() error {
	return p.cmd.Process.Kill()
}

// freeze is not possible here.
func (p *process) freeze() error {
	return errors.ErrUnsupported
}

// thaw is not possible here.
func (p *process) thaw() error {
	return errors.ErrUnsupported
}
