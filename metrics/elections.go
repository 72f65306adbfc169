package metrics

import (
	"sync"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// elections knows what the events have told of each name. The zero value is empty.
type elections struct {
	mu     sync.Mutex
	byName map[string]*election
}

// election is one of them, as all electors of that name in this process see it together.
type election struct {
	led     bool      // there has been a leader: the next one is a failover
	vacant  time.Time // since when this process knows of no leader; zero as long as it does, and while it does not compete
	leaving bool      // the latest term of this process ended because Run is to end
	fence   int64     // of the latest term seen
}

// update changes the election of that name.
func (s *elections) update(name string, change func(*election)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byName == nil {
		s.byName = make(map[string]*election)
	}
	e := s.byName[name]
	if e == nil {
		e = &election{fence: -1} // lower than any
		s.byName[name] = e
	}
	change(e)
}

func (s *elections) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byName, name)
}

// attempted takes note of an attempt to obtain the lock, and of whether anybody is
// known to hold it.
func (e *election) attempted(result leader.AcquireResult, known bool) {
	switch {
	case result == leader.AcquireHeld:
		e.led, e.vacant = true, time.Time{}
	case result == leader.AcquireFailed && known:
		// It looks as if Redis were gone, and the leader were not.
	case e.led && e.vacant.IsZero():
		e.vacant = time.Now()
	}
}

// seen takes note of a leader and reports whether its term is new: all electors of a
// name see each term.
func (e *election) seen(fence int64) bool {
	changed := e.fence != fence
	e.led, e.fence = true, fence
	return changed
}

// started takes note of a term of this process. It returns how long the vacancy before
// it was seen to last, and false if there was none: the first leader of all takes over
// from nobody.
func (e *election) started() (time.Duration, bool) {
	since := e.vacant
	e.led, e.vacant = true, time.Time{}
	return time.Since(since), !since.IsZero()
}

// ended takes note of the end of a term of this process. The lock is still held.
func (e *election) ended(reason leader.EndReason) {
	e.leaving = reason == leader.EndedStopped
}

// drained takes note that the lock is about to be released. What comes after Run is not
// looked at.
func (e *election) drained() {
	if !e.leaving {
		e.vacant = time.Now()
	}
}
