package main

import "fmt"

// entry is an effect of the job in its outbox: which slot was run, and by whom.
type entry struct {
	slot     int64
	fence    int64 // 0 in a control
	identity string
}

func (e entry) String() string { return fmt.Sprintf("%d %d %s", e.slot, e.fence, e.identity) }

func parseEntry(text string) (e entry, err error) {
	_, err = fmt.Sscan(text, &e.slot, &e.fence, &e.identity)
	return e, err
}
