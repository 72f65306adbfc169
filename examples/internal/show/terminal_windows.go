package show

import (
	"os"

	"golang.org/x/sys/windows"
)

// isTerminal reports whether out is a console that understands escape sequences, and
// has it do so: older ones need to be told.
func isTerminal(out *os.File) bool {
	var mode uint32
	console := windows.Handle(out.Fd())
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
