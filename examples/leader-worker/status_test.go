//go:build unix

package main

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"
	"testing"
	"time"
)

// statusWatch adds up leader_election_master_status over all replicas of a program
// while it runs, as a dashboard would.
type statusWatch struct {
	program *program
	client  http.Client
	stop    chan struct{}
	done    sync.WaitGroup

	led      int      // samples in which one replica said that it leads
	problems []string // samples in which more than one did
}

// watchStatus samples until end is called.
func watchStatus(p *program) *statusWatch {
	w := &statusWatch{program: p, stop: make(chan struct{})}
	w.client.Timeout = 200 * time.Millisecond // a frozen replica does not answer
	w.done.Go(w.run)
	return w
}

func (w *statusWatch) run() {
	defer w.client.CloseIdleConnections()
	for {
		select {
		case <-w.stop:
			return
		case <-time.After(20 * time.Millisecond):
			w.sample()
		}
	}
}

// sample asks one replica after another. A hand-over between two of the questions makes
// two leaders of one, so a sum above 1 counts only if it is so again at once.
func (w *statusWatch) sample() {
	switch first := w.sum(); {
	case first == 1:
		w.led++
	case first > 1:
		if second := w.sum(); second > 1 {
			w.problems = append(w.problems, fmt.Sprintf("%d, and then %d", first, second))
		}
	}
}

var (
	addressOf = regexp.MustCompile(`says who leads on (http://[^/]+)/leader`)
	isMaster  = regexp.MustCompile(`(?m)^leader_election_master_status\{[^}]*\} 1$`)
)

func (w *statusWatch) sum() int {
	sum := 0
	for _, match := range addressOf.FindAllStringSubmatch(w.program.text(), -1) {
		reply, err := w.client.Get(match[1] + "/metrics")
		if err != nil {
			continue // it has ended, or is frozen
		}
		body, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		if isMaster.Match(body) {
			sum++
		}
	}
	return sum
}

// end stops sampling and fails the test if two replicas led at a time, or if none was
// ever seen to.
func (w *statusWatch) end(t *testing.T) {
	t.Helper()
	close(w.stop)
	w.done.Wait()
	if len(w.problems) > 0 {
		t.Errorf("sum of master_status: %v", w.problems)
	}
	if w.led < 20 {
		t.Errorf("a leader was seen in %d samples", w.led)
	}
}
