package show

import (
	"strings"
	"testing"
)

func TestVerdict(t *testing.T) {
	t.Parallel()
	for _, holds := range []bool{true, false} {
		checks := []Check{{Holds: true, Text: "one"}, {Holds: holds, Text: "two"}}
		var out strings.Builder
		PrintVerdict(&out, Palette{}, checks, "both.")
		if got := strings.Contains(out.String(), "PASSED: both."); got != holds {
			t.Errorf("printed:\n%s", out.String())
		}
		if err := Failure(checks); (err == nil) != holds || err != nil && err.Error() != "two" {
			t.Errorf("failure: %v", err)
		}
	}
}
