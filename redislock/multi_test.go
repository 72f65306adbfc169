package redislock

import (
	"slices"
	"testing"
	"time"
)

// keys returns the names of three locks.
func (e *environment) keys() []string { return []string{e.key + "1", e.key + "2", e.key + "3"} }

func TestObtainMultiIsOneLockOnAllKeys(t *testing.T) {
	e := onSharedServer(t)
	lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, &Options{FenceKey: e.fence, Metadata: "me"})
	e.must(err)
	if lock.Key() != e.keys()[0] || !slices.Equal(lock.Keys(), e.keys()) || lock.FenceToken() != 1 {
		t.Errorf("lock is %q, %q, %d", lock.Key(), lock.Keys(), lock.FenceToken())
	}
	for _, key := range e.keys() {
		e.wantField(key, "token", lock.Token())
		e.wantField(key, "metadata", "me")
		e.wantField(key, "fence", "1")
		e.wantTTL(key, long)
	}
	e.must(lock.Refresh(t.Context(), time.Hour, nil))
	for _, key := range e.keys() {
		e.wantTTL(key, time.Hour)
	}
	e.must(lock.Release(t.Context()))
	for _, key := range e.keys() {
		e.wantGone(key)
	}
}

func TestObtainMultiIsAllOrNone(t *testing.T) {
	e := onSharedServer(t)
	for i, held := range e.keys() {
		other, err := e.client.Obtain(t.Context(), held, long, &Options{Metadata: held})
		e.must(err)
		var holder Holder
		opt := &Options{FenceKey: e.fence, OnHeld: func(h Holder) { holder = h }}
		lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, opt)
		if lock != nil || err != ErrNotObtained || holder.Metadata != held {
			t.Errorf("%v, %v, holder %+v", lock, err, holder)
		}
		for j, key := range e.keys() {
			if i != j {
				e.wantGone(key)
			}
		}
		e.wantCounter("")
		e.must(other.Release(t.Context()))
	}
}

func TestRefreshOfSeveralIsAllOrNone(t *testing.T) {
	e := onSharedServer(t)
	lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, nil)
	e.must(err)
	e.must(e.redis.Del(t.Context(), e.keys()[2]).Err())
	if err := lock.Refresh(t.Context(), time.Hour, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	e.wantTTL(e.keys()[0], long)
	e.wantTTL(e.keys()[1], long)
	e.wantGone(e.keys()[2])
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
}

func TestReleaseOfSeveralDeletesThoseThatAreOurs(t *testing.T) {
	e := onSharedServer(t)
	lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, nil)
	e.must(err)
	e.must(e.redis.HSet(t.Context(), e.keys()[1], "token", "other").Err())
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	e.wantGone(e.keys()[0])
	e.wantField(e.keys()[1], "token", "other")
	e.wantGone(e.keys()[2])
}

func TestTTLOfSeveralIsTheShortest(t *testing.T) {
	e := onSharedServer(t)
	lock, err := e.client.ObtainMulti(t.Context(), e.keys(), time.Hour, nil)
	e.must(err)
	e.must(e.redis.PExpire(t.Context(), e.keys()[1], long).Err())
	e.must(e.redis.Persist(t.Context(), e.keys()[2]).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl > long || ttl < long-patience {
		t.Errorf("TTL = %v, %v, want %v", ttl, err, long)
	}
}

func TestPartialReobtainMintsANewFence(t *testing.T) {
	e := onSharedServer(t)
	opt := &Options{Token: "mine", FenceKey: e.fence}
	_, err := e.client.ObtainMulti(t.Context(), e.keys()[:2], long, opt)
	e.must(err)
	lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, opt)
	e.must(err)
	if lock.FenceToken() != 2 {
		t.Errorf("fence = %d, want 2", lock.FenceToken())
	}
	for _, key := range e.keys() {
		e.wantField(key, "fence", "2")
	}
}

// Locks that were obtained one by one are joined. Writes may carry the highest of their
// tokens already.
func TestReobtainOfSeveralKeepsTheHighestFence(t *testing.T) {
	e := onSharedServer(t)
	opt := &Options{Token: "mine", FenceKey: e.fence}
	for _, key := range e.keys() {
		_, err := e.client.Obtain(t.Context(), key, long, opt)
		e.must(err)
	}
	reversed := e.keys()
	slices.Reverse(reversed)
	for _, keys := range [][]string{reversed, e.keys()} {
		lock, err := e.client.ObtainMulti(t.Context(), keys, long, opt)
		e.must(err)
		if lock.FenceToken() != 3 {
			t.Errorf("fence of %q = %d, want 3", keys, lock.FenceToken())
		}
	}
	for _, key := range e.keys() {
		e.wantField(key, "fence", "3")
	}
}

func TestOneKeyGivenTwice(t *testing.T) {
	e := onSharedServer(t)
	lock, err := e.client.ObtainMulti(t.Context(), []string{e.key, e.key}, long, nil)
	e.must(err)
	e.must(lock.Refresh(t.Context(), long, nil))
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

func TestLockKeepsKeysOfItsOwn(t *testing.T) {
	e := onSharedServer(t)
	keys := e.keys()
	lock, err := e.client.ObtainMulti(t.Context(), keys, long, nil)
	e.must(err)
	keys[0] = "changed by the caller"
	lock.Keys()[1] = "changed by the caller"
	if !slices.Equal(lock.Keys(), e.keys()) {
		t.Errorf("keys = %q", lock.Keys())
	}
}
