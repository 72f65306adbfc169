package show

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
)

// Demo is who does what the demonstration itself does.
const Demo = "demo"

// orderDelay is how long an entry is kept back. Entries come from several processes,
// each through a pipe of its own, and are printed in the order in which things
// happened.
const orderDelay = 80 * time.Millisecond

// Timeline prints what happens while it happens.
type Timeline struct {
	out     io.Writer
	palette Palette
	start   time.Time
	stop    chan struct{}
	ended   chan struct{}

	mu      sync.Mutex
	pending []entry
}

// entry is one line. Without who it is the title of a scene.
type entry struct {
	at    time.Time
	who   string
	style Style
	text  string
}

// NewTimeline starts a timeline. It has to be closed.
func NewTimeline(out io.Writer, p Palette) *Timeline {
	t := &Timeline{out: out, palette: p, start: time.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	go t.run() // joined by Close
	return t
}

// Add adds what somebody did at an instant.
func (t *Timeline) Add(at time.Time, who string, s Style, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, entry{at, who, s, fmt.Sprintf(format, args...)})
}

// Now adds what somebody does just now.
func (t *Timeline) Now(who, format string, args ...any) {
	t.Add(time.Now(), who, Plain, format, args...)
}

// Scene adds a title.
func (t *Timeline) Scene(title string) { t.Add(time.Now(), "", Bold, "%s", title) }

// Close prints what is left.
func (t *Timeline) Close() {
	close(t.stop)
	<-t.ended
}

func (t *Timeline) run() {
	defer close(t.ended)
	ticker := time.NewTicker(orderDelay / 4)
	defer ticker.Stop()
	for {
		select {
		case now := <-ticker.C:
			t.flush(now.Add(-orderDelay))
		case <-t.stop:
			t.flush(time.Now().Add(time.Hour))
			return
		}
	}
}

// flush prints the entries up to an instant.
func (t *Timeline) flush(until time.Time) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slices.SortStableFunc(t.pending, func(a, b entry) int { return a.at.Compare(b.at) })
	n := 0
	for n < len(t.pending) && !t.pending[n].at.After(until) {
		t.print(t.pending[n])
		n++
	}
	t.pending = slices.Delete(t.pending, 0, n)
}

func (t *Timeline) print(e entry) {
	if e.who == "" {
		fmt.Fprintf(t.out, "\n%s\n", t.palette.Paint(e.style, e.text))
		return
	}
	elapsed := t.palette.Paint(Dim, fmt.Sprintf("%6.2fs", e.at.Sub(t.start).Seconds()))
	who := t.palette.Paint(styleOf(e.who), fmt.Sprintf("%-9s", e.who))
	fmt.Fprintf(t.out, "%s  %s  %s\n", elapsed, who, t.palette.Paint(e.style, e.text))
}

// Seconds is how a duration is shown.
func Seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 2, 64) + "s" }
