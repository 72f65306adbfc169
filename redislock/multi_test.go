package redislock

import (
	"slices"
	"testing"
	"time"
)

// keys are the names of three locks of the scene.
func (s *scene) keys() []string { return []string{s.key + "1", s.key + "2", s.key + "3"} }

func TestObtainMultiIsOneLockOnAllKeys(t *testing.T) {
	s := newScene(t)
	lock, err := s.client.ObtainMulti(t.Context(), s.keys(), long, &Options{FenceKey: s.fence, Metadata: "me"})
	s.must(err)
	if lock.Key() != s.keys()[0] || !slices.Equal(lock.Keys(), s.keys()) || lock.FenceToken() != 1 {
		t.Errorf("lock is %q, %q, %d", lock.Key(), lock.Keys(), lock.FenceToken())
	}
	for _, key := range s.keys() {
		s.wantField(key, "token", lock.Token())
		s.wantField(key, "metadata", "me")
		s.wantField(key, "fence", "1")
		s.wantTTL(key, long)
	}
	s.must(lock.Refresh(t.Context(), time.Hour, nil))
	for _, key := range s.keys() {
		s.wantTTL(key, time.Hour)
	}
	s.must(lock.Release(t.Context()))
	for _, key := range s.keys() {
		s.wantGone(key)
	}
}

func TestObtainMultiIsAllOrNone(t *testing.T) {
	s := newScene(t)
	for i, held := range s.keys() {
		other, err := s.client.Obtain(t.Context(), held, long, &Options{Metadata: held})
		s.must(err)
		var holder Holder
		opt := &Options{FenceKey: s.fence, OnHeld: func(h Holder) { holder = h }}
		lock, err := s.client.ObtainMulti(t.Context(), s.keys(), long, opt)
		if lock != nil || err != ErrNotObtained || holder.Metadata != held {
			t.Errorf("%v, %v, holder %+v", lock, err, holder)
		}
		for j, key := range s.keys() {
			if i != j {
				s.wantGone(key)
			}
		}
		s.wantCounter("")
		s.must(other.Release(t.Context()))
	}
}

func TestRefreshOfSeveralIsAllOrNone(t *testing.T) {
	s := newScene(t)
	lock, err := s.client.ObtainMulti(t.Context(), s.keys(), long, nil)
	s.must(err)
	s.must(s.redis.Del(t.Context(), s.keys()[2]).Err())
	if err := lock.Refresh(t.Context(), time.Hour, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v", err)
	}
	s.wantTTL(s.keys()[0], long)
	s.wantTTL(s.keys()[1], long)
	s.wantGone(s.keys()[2])
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
}

func TestReleaseOfSeveralDeletesThoseThatAreOurs(t *testing.T) {
	s := newScene(t)
	lock, err := s.client.ObtainMulti(t.Context(), s.keys(), long, nil)
	s.must(err)
	s.must(s.redis.HSet(t.Context(), s.keys()[1], "token", "other").Err())
	if err := lock.Release(t.Context()); err != ErrLockNotHeld {
		t.Errorf("Release: %v", err)
	}
	s.wantGone(s.keys()[0])
	s.wantField(s.keys()[1], "token", "other")
	s.wantGone(s.keys()[2])
}

func TestTTLOfSeveralIsTheShortest(t *testing.T) {
	s := newScene(t)
	lock, err := s.client.ObtainMulti(t.Context(), s.keys(), time.Hour, nil)
	s.must(err)
	s.must(s.redis.PExpire(t.Context(), s.keys()[1], long).Err())
	s.must(s.redis.Persist(t.Context(), s.keys()[2]).Err())
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl > long || ttl < long-patience {
		t.Errorf("TTL = %v, %v, want %v", ttl, err, long)
	}
}

func TestPartialReobtainMintsANewFence(t *testing.T) {
	s := newScene(t)
	opt := &Options{Token: "mine", FenceKey: s.fence}
	_, err := s.client.ObtainMulti(t.Context(), s.keys()[:2], long, opt)
	s.must(err)
	lock, err := s.client.ObtainMulti(t.Context(), s.keys(), long, opt)
	s.must(err)
	if lock.FenceToken() != 2 {
		t.Errorf("fence = %d, want 2", lock.FenceToken())
	}
	for _, key := range s.keys() {
		s.wantField(key, "fence", "2")
	}
}

// TestReobtainOfSeveralKeepsTheHighestFence joins locks that were obtained one by one:
// the writes of one of them carry the higher token already.
func TestReobtainOfSeveralKeepsTheHighestFence(t *testing.T) {
	s := newScene(t)
	opt := &Options{Token: "mine", FenceKey: s.fence}
	for _, key := range s.keys() {
		_, err := s.client.Obtain(t.Context(), key, long, opt)
		s.must(err)
	}
	reversed := s.keys()
	slices.Reverse(reversed)
	for _, keys := range [][]string{reversed, s.keys()} {
		lock, err := s.client.ObtainMulti(t.Context(), keys, long, opt)
		s.must(err)
		if lock.FenceToken() != 3 {
			t.Errorf("fence of %q = %d, want 3", keys, lock.FenceToken())
		}
	}
	for _, key := range s.keys() {
		s.wantField(key, "fence", "3")
	}
}

func TestOneKeyGivenTwice(t *testing.T) {
	s := newScene(t)
	lock, err := s.client.ObtainMulti(t.Context(), []string{s.key, s.key}, long, nil)
	s.must(err)
	s.must(lock.Refresh(t.Context(), long, nil))
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
}

func TestLockKeepsKeysOfItsOwn(t *testing.T) {
	s := newScene(t)
	keys := s.keys()
	lock, err := s.client.ObtainMulti(t.Context(), keys, long, nil)
	s.must(err)
	keys[0] = "changed by the caller"
	lock.Keys()[1] = "changed by the caller"
	if !slices.Equal(lock.Keys(), s.keys()) {
		t.Errorf("keys = %q", lock.Keys())
	}
}
