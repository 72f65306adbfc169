package demo

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"
)

// style is the parameter of an ANSI escape sequence.
type style string

const (
	plain style = ""
	bold  style = "1"
	dim   style = "2"
	red   style = "1;31"
	green style = "1;32"
)

// painter paints text, or does not.
type painter bool

func (p painter) paint(s style, text string) string {
	if !p || s == plain {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// newPainter paints on a terminal unless NO_COLOR is set, and wherever CLICOLOR_FORCE is.
// Not every console of Windows understands escape sequences.
func newPainter(out *os.File) painter {
	info, err := out.Stat()
	terminal := err == nil && info.Mode()&os.ModeCharDevice != 0 && runtime.GOOS != "windows"
	suited := os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	return painter(terminal && suited || os.Getenv("CLICOLOR_FORCE") != "")
}

// styles are of those on the timeline who are not dim.
var styles = map[string]style{"replica-1": "36", "replica-2": "33", "replica-3": "35"}

// orderDelay is how long an entry is kept back. Entries come from several processes,
// each through a pipe of its own, and are printed in the order in which things happened.
const orderDelay = 80 * time.Millisecond

// timeline prints what happens while it happens.
type timeline struct {
	out     io.Writer
	painter painter
	start   time.Time

	mu      sync.Mutex
	pending []entry
}

// entry is one line. Without who it is the title of a scene.
type entry struct {
	at    time.Time
	who   string
	style style
	text  string
}

// add adds what somebody did at an instant.
func (t *timeline) add(at time.Time, who string, s style, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, entry{at, who, s, fmt.Sprintf(format, args...)})
	time.AfterFunc(orderDelay, func() { t.flush(time.Now().Add(-orderDelay)) })
}

// title adds the title of a scene.
func (t *timeline) title(text string) { t.add(time.Now(), "", bold, "%s", text) }

// close prints what is left.
func (t *timeline) close() { t.flush(time.Now().Add(time.Hour)) }

// flush prints the entries up to an instant.
func (t *timeline) flush(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.pending, func(a, b entry) int { return a.at.Compare(b.at) })
	for len(t.pending) > 0 && !t.pending[0].at.After(until) {
		t.print(t.pending[0])
		t.pending = t.pending[1:]
	}
}

func (t *timeline) print(e entry) {
	if e.who == "" {
		fmt.Fprintf(t.out, "\n%s\n", t.painter.paint(e.style, e.text))
		return
	}
	elapsed := t.painter.paint(dim, fmt.Sprintf("%6.2fs", e.at.Sub(t.start).Seconds()))
	who := t.painter.paint(cmp.Or(styles[e.who], dim), fmt.Sprintf("%-9s", e.who))
	fmt.Fprintf(t.out, "%s  %s  %s\n", elapsed, who, t.painter.paint(e.style, e.text))
}

// seconds is how a duration is shown.
func seconds(d time.Duration) string { return fmt.Sprintf("%.2fs", d.Seconds()) }
