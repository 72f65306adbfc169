//go:build !unix

package main

import (
	"errors"
	"time"
)

// cpuTime is not known here.
func cpuTime() (time.Duration, error) {
	return 0, errors.New("processor time is measured on Unix only")
}
