package metrics

import (
	"sync"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// elections keeps what is known of each election from events. The zero value is empty.
type elections struct {
	mu     sync.Mutex
	byName map[string]*election
}

// election is one election, as all electors of its name in this process see it together.
type election struct {
	led     bool  // there has been a leader, so that the next one is a failover
	fence   int64 // of the latest term seen
	leaving bool  // the latest term of this process ended because Run is to end

	// vacant is since when this process knows of no leader. It is zero while there is one,
	// and while this process does not compete.
	vacant time.Time
}

// update calls change with the election of that name.
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

// attempted notes an attempt to obtain the lock. known says whether an elector knows who
// leads.
func (e *election) attempted(result leader.AcquireResult, known bool) {
	switch {
	case result == leader.AcquireHeld:
		e.led, e.vacant = true, time.Time{}
	case result == leader.AcquireFailed && known:
		// Redis seems to be gone, but not the leader.
	case e.led && e.vacant.IsZero():
		e.vacant = time.Now()
	}
}

// seen notes a leader and reports whether its term is new. All electors of a name see each
// term, and it counts once.
func (e *election) seen(fence int64) bool {
	changed := e.fence != fence
	e.led, e.fence = true, fence
	return changed
}

// started notes that a term of this process has begun. It returns how long nobody was seen
// to lead before it, and false for the very first leader, which takes over from nobody.
func (e *election) started() (time.Duration, bool) {
	since := e.vacant
	e.led, e.vacant = true, time.Time{}
	return time.Since(since), !since.IsZero()
}

// ended notes that a term of this process has ended. The lock is still held.
func (e *election) ended(reason leader.EndReason) {
	e.leaving = reason == leader.EndedStopped
}

// drained notes that the lock is about to be released. The time after Run does not count.
func (e *election) drained() {
	if !e.leaving {
		e.vacant = time.Now()
	}
}
