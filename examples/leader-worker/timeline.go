package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Names of those on the timeline who are not replicas.
const (
	whoDemo     = "demo"
	whoResource = "resource"
)

// orderDelay is how long an entry is kept back. Entries come from several processes, each through a pipe of its own, and are
// printed in the order in which things happened.
const orderDelay = 80 * time.Millisecond

// timeline prints what happens while it happens.
type timeline struct {
	out     io.Writer
	palette palette
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
	style style
	text  string
}

func newTimeline(out io.Writer, p palette) *timeline {
	t := &timeline{out: out, palette: p, start: time.Now(), stop: make(chan struct{}), ended: make(chan struct{})}
	go t.run() // joined by close
	return t
}

// add adds what somebody did at an instant.
func (t *timeline) add(at time.Time, who string, s style, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending = append(t.pending, entry{at, who, s, fmt.Sprintf(format, args...)})
}

// now adds what somebody does just now.
func (t *timeline) now(who, format string, args ...any) {
	t.add(time.Now(), who, plain, format, args...)
}

// scene adds a title.
func (t *timeline) scene(title string) { t.add(time.Now(), "", bold, "%s", title) }

// close prints what is left.
func (t *timeline) close() {
	close(t.stop)
	<-t.ended
}

func (t *timeline) run() {
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
func (t *timeline) flush(until time.Time) {
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

func (t *timeline) print(e entry) {
	if e.who == "" {
		fmt.Fprintf(t.out, "\n%s\n", t.palette.paint(e.style, e.text))
		return
	}
	elapsed := t.palette.paint(dim, fmt.Sprintf("%6.2fs", e.at.Sub(t.start).Seconds()))
	who := t.palette.paint(styleOf(e.who), fmt.Sprintf("%-9s", e.who))
	fmt.Fprintf(t.out, "%s  %s  %s\n", elapsed, who, t.palette.paint(e.style, e.text))
}
