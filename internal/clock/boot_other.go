//go:build !linux

package clock

import "time"

// sinceBoot has no portable source here; the forward wall clock covers a suspend.
func sinceBoot() time.Duration { return 0 }
