//go:build unix

package show

import "os"

// isTerminal reports whether out is shown to somebody. The null device passes for one,
// which does no harm.
func isTerminal(out *os.File) bool {
	info, err := out.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
