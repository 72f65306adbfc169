package main

import (
	"fmt"
	"maps"
	"sync"
)

// ledger is the state of the guarded resource: the value, the guard, and a journal by
// which the guard itself can be judged.
type ledger struct {
	onReject func(token, highest int64) // called with mu held; may be nil

	mu      sync.Mutex // makes the guard atomic: nothing comes between comparing a token and applying its write
	value   int64
	highest int64          // the highest token accepted
	journal []write        // all writes, in the order in which they were decided
	reading map[int64]bool // tokens whose holder has read and not yet written
}

// write is an entry of the journal.
type write struct {
	token    int64
	accepted bool
}

// staleError rejects a write.
type staleError struct{ token, highest int64 }

func (e staleError) Error() string {
	return fmt.Sprintf("fence token %d is lower than %d", e.token, e.highest)
}

// read returns the value, and notes that the holder of token is going to write.
func (l *ledger) read(token int64) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.reading == nil {
		l.reading = make(map[int64]bool)
	}
	l.reading[token] = true
	return l.value
}

// write applies a write, unless its token is lower than the highest accepted. This is
// all that a resource has to do. In SQL:
//
//	UPDATE counter SET value = $1, fence = $2 WHERE id = 1 AND fence <= $2
func (l *ledger) write(token, value int64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.reading, token)
	accepted := token >= l.highest
	l.journal = append(l.journal, write{token, accepted})
	if !accepted {
		if l.onReject != nil {
			l.onReject(token, l.highest)
		}
		return staleError{token, l.highest}
	}
	l.highest, l.value = token, value
	return nil
}

// fence is the highest token accepted, 0 if none.
func (l *ledger) fence() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.highest
}

// aboutToWrite reports whether the holder of token has read and not yet written.
func (l *ledger) aboutToWrite(token int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.reading[token]
}

// account is what the journal says about the writes.
type account struct {
	accepted map[int64]int // by token
	rejected map[int64]int
	stale    int // writes that were accepted after one with a higher token
}

// account goes through the journal. It does not rely on what the guard thought to be
// the highest token.
func (l *ledger) account() account {
	l.mu.Lock()
	defer l.mu.Unlock()
	return audit(l.journal)
}

func audit(journal []write) account {
	a := account{accepted: make(map[int64]int), rejected: make(map[int64]int)}
	var highest int64
	for _, w := range journal {
		if !w.accepted {
			a.rejected[w.token]++
			continue
		}
		a.accepted[w.token]++
		if w.token < highest {
			a.stale++
		}
		highest = max(highest, w.token)
	}
	return a
}

// total sums over all tokens.
func total(writes map[int64]int) int {
	n := 0
	for w := range maps.Values(writes) {
		n += w
	}
	return n
}
