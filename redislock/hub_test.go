package redislock

import "testing"

// Watches of one Client share a connection, and each hears of its own lock alone.
func TestWatchesOfOneClientHearOfTheirOwnLock(t *testing.T) {
	s := ownScene(t)
	one, other := watching(t, s.client, job), watching(t, s.client, job+"-other")
	lock, err := Obtain(t.Context(), s.app, job, long, &Options{Announce: true})
	s.must(err)
	s.must(lock.Release(t.Context()))
	expect(t, one, Released)
	select {
	case a := <-other.C:
		t.Errorf("the watch of another lock heard %+v", a)
	default:
	}
}
