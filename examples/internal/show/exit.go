package show

import (
	"context"
	"fmt"
	"os"
)

// Exit statuses of a demonstration.
const (
	ExitOK          = 0
	ExitFailed      = 1
	ExitInterrupted = 130 // what a shell reports for a program that Ctrl-C has ended
)

// Status is the exit status for how a demonstration under ctx ended. It prints what was
// wrong, in the name of the program.
func Status(ctx context.Context, program string, err error) int {
	switch {
	case err == nil:
		return ExitOK
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, program+": interrupted; all that it had started has been stopped")
		return ExitInterrupted
	default:
		fmt.Fprintln(os.Stderr, program+":", err)
		return ExitFailed
	}
}
