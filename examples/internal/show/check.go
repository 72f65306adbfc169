package show

import (
	"errors"
	"fmt"
	"io"
)

// Check is one claim and whether it holds.
type Check struct {
	Holds bool
	Text  string
}

// Failure is nil if all checks hold.
func Failure(checks []Check) error {
	var errs []error
	for _, c := range checks {
		if !c.Holds {
			errs = append(errs, errors.New(c.Text))
		}
	}
	return errors.Join(errs...)
}

// PrintVerdict prints the checks and, if all hold, what that proves.
func PrintVerdict(out io.Writer, p Palette, checks []Check, proves string) {
	for _, c := range checks {
		mark := p.Paint(Green, "ok  ")
		if !c.Holds {
			mark = p.Paint(Red, "FAIL")
		}
		fmt.Fprintf(out, "  %s  %s\n", mark, c.Text)
	}
	if Failure(checks) != nil {
		fmt.Fprintf(out, "\n%s\n", p.Paint(Red, "FAILED: see above."))
		return
	}
	fmt.Fprintf(out, "\n%s\n", p.Paint(Green, "PASSED: "+proves))
}
