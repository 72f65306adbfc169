//go:build !unix

package main

import (
	"errors"
	"time"
)

// cpuTime is not known on this system.
func cpuTime() (time.Duration, error) {
	return 0, errors.New("processor time is only measured on Unix")
}
