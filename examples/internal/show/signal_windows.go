package show

import "errors"

// CanFreeze says whether a process can be frozen from outside.
const CanFreeze = false

// Politely is how a process is asked to end, for the timeline. Windows has no signals.
const Politely = "end of its input"

func (c *Child) terminate() error { return c.stdin.Close() }

func (c *Child) Freeze() error { return errors.ErrUnsupported }

func (c *Child) Thaw() error { return errors.ErrUnsupported }
