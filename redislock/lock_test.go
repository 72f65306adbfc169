package redislock

import (
	"testing"
	"time"
)

func TestNilLock(t *testing.T) {
	var lock *Lock
	if lock.Key() != "" || lock.Keys() != nil || lock.Token() != "" || lock.Metadata() != "" {
		t.Error("a nil lock has a name, a token or metadata")
	}
	if lock.FenceToken() != 0 || lock.Remaining() != 0 {
		t.Error("a nil lock has a fencing token or time")
	}
	if lock.ReleaseRequested() {
		t.Error("somebody requested the release of a nil lock")
	}
	if ttl, err := lock.TTL(t.Context()); ttl != 0 || err != ErrLockNotHeld {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if err := lock.Refresh(t.Context(), time.Second, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	wantErrors(t, lock.Refresh(t.Context(), 0, nil), ErrInvalidTTL)
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
}
