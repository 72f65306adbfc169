package show

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// Entries come through several pipes. They are printed in the order in which things
// happened.
func TestTimelineIsInOrder(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	line := NewTimeline(&out, Palette{Enabled: true})
	start := time.Now()
	line.Add(start.Add(20*time.Millisecond), "replica-1", Plain, "%s", "third")
	line.Add(start, "", Bold, "%s", "first")
	line.Add(start.Add(10*time.Millisecond), "replica-2", Red, "%s", "second")
	line.Close()
	if !regexp.MustCompile(`(?s)first.*second.*third`).MatchString(out.String()) {
		t.Errorf("printed:\n%s", out.String())
	}
}
