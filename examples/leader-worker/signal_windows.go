package main

import "errors"

// canFreeze says whether a process can be frozen from outside.
const canFreeze = false

// politely is how a process is asked to end, for the timeline. Windows has no signals.
const politely = "end of its input"

func (c *child) terminate() error { return c.stdin.Close() }

func (c *child) freeze() error { return errors.ErrUnsupported }

func (c *child) thaw() error { return errors.ErrUnsupported }
