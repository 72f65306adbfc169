package redislock

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

// The holder's machine is suspended, first for less time than the lock lasts, then for
// more.
func TestRemainingOfALockThroughSuspends(t *testing.T) {
	e := onSharedServer(t)
	var slept atomic.Int64
	e.client.now = func() clock.Instant { return clock.Now().Suspended(time.Duration(slept.Load())) }
	lock := e.obtain(long, nil)
	slept.Add(int64(long / 2))
	if left := lock.Remaining(); left > usable(long)-long/2 || left < usable(long)-long/2-patience {
		t.Errorf("Remaining = %v after a suspend of %v, want %v", left, long/2, usable(long)-long/2)
	}
	e.must(lock.Refresh(t.Context(), long, nil))
	if left := lock.Remaining(); left > usable(long) || left < usable(long)-patience {
		t.Errorf("Remaining = %v after a refresh, want %v", left, usable(long))
	}
	slept.Add(int64(usable(long)))
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v after a suspend of %v, want none", left, usable(long))
	}
	slept.Store(0) // once lost, the lock never comes back
	if left := lock.Remaining(); left > 0 || lock.Refresh(t.Context(), long, nil) != ErrNotObtained {
		t.Errorf("the lock came back, with %v", left)
	}
	e.must(lock.Release(t.Context())) // the server still has it
	e.wantGone(e.key)
}
