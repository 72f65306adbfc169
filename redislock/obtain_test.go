package redislock

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

func TestObtainCreatesAHashThatPeopleCanRead(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{Metadata: "me"})
	fields, err := e.redis.HGetAll(t.Context(), e.key).Result()
	e.must(err)
	if want := map[string]string{"token": lock.Token(), "metadata": "me", "fence": "0"}; !maps.Equal(fields, want) {
		t.Errorf("hash = %q, want %q", fields, want)
	}
	e.wantTTL(e.key, long)
	if lock.Key() != e.key || len(lock.Keys()) != 1 || lock.Keys()[0] != e.key || lock.Metadata() != "me" || lock.FenceToken() != 0 {
		t.Errorf("lock is %q %q %q %d", lock.Key(), lock.Keys(), lock.Metadata(), lock.FenceToken())
	}
}

func TestObtainLeavesUsableTimeLessAMargin(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	if got, most := lock.Remaining(), long-long/100-2*time.Millisecond; got > most || got < most-patience {
		t.Errorf("Remaining = %v, want little less than %v", got, most)
	}
}

func TestTokenIs128RandomBits(t *testing.T) {
	const count = 1000
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`).MatchString(lock.Token()) {
		t.Errorf("token %q is not 22 characters of base64url", lock.Token())
	}
	seen := map[string]bool{lock.Token(): true}
	for range count {
		seen[randomToken()] = true
	}
	if len(seen) != count+1 {
		t.Errorf("%d tokens, %d of them different", count+1, len(seen))
	}
}

func TestObtainOfAHeldLockIsExactlyErrNotObtained(t *testing.T) {
	e := onSharedServer(t)
	first := e.obtain(long, &Options{Metadata: "first"})
	lock, err := e.client.Obtain(t.Context(), e.key, time.Second, &Options{Metadata: "second"})
	if lock != nil || err != ErrNotObtained {
		t.Errorf("Obtain = %v, %v, want ErrNotObtained itself", lock, err)
	}
	e.wantField(e.key, "token", first.Token())
	e.wantField(e.key, "metadata", "first")
	e.wantTTL(e.key, long)
}

func TestObtainAfterTheLockRanOut(t *testing.T) {
	e := onSharedServer(t)
	first := e.obtain(20*time.Millisecond, nil)
	e.eventually("the lock to run out", func() bool {
		lock, err := e.client.Obtain(t.Context(), e.key, long, nil)
		return err == nil && lock.Token() != first.Token()
	})
}

func TestPackageLevelFunctions(t *testing.T) {
	e := onSharedServer(t)
	one, err := Obtain(t.Context(), e.app, e.key, long, nil)
	e.must(err)
	e.wantField(e.key, "token", one.Token())
	two, err := ObtainMulti(t.Context(), e.app, []string{e.key + "1", e.key + "2"}, long, nil)
	e.must(err)
	e.wantField(e.key+"2", "token", two.Token())
}

func TestObtainWithAnEndedContextSendsNothing(t *testing.T) {
	_, err := New(unused{}).Obtain(canceled(), "key", time.Second, nil)
	wantErrors(t, err, context.Canceled)
	if errors.Is(err, ErrNotObtained) {
		t.Errorf("error %v says that somebody holds the lock, and nobody was asked", err)
	}
}

func TestBinaryTokenAndMetadata(t *testing.T) {
	e := onSharedServer(t)
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, token := range []string{string(all), "\x00", "a\r\nb", "*1\r\n", strings.Repeat("x", 1<<16)} {
		var holder Holder
		lock := e.obtain(long, &Options{Token: token, Metadata: token})
		e.wantField(e.key, "token", token)
		_, err := e.client.Obtain(t.Context(), e.key, long, &Options{OnHeld: func(h Holder) { holder = h }})
		if err != ErrNotObtained || holder.Metadata != token {
			t.Errorf("%.20q: %v, holder %.20q", token, err, holder.Metadata)
		}
		e.must(lock.Refresh(t.Context(), long, nil))
		e.must(lock.Release(t.Context()))
		e.wantGone(e.key)
	}
}

func TestEmptyTokenMeansARandomOne(t *testing.T) {
	e := onSharedServer(t)
	if lock := e.obtain(long, &Options{Token: ""}); len(lock.Token()) != 22 {
		t.Errorf("token = %q", lock.Token())
	}
}

func TestATokenIsComparedWhole(t *testing.T) {
	for _, c := range []struct{ name, ours, theirs string }{
		{"ours is a prefix", "abc", "abcd"},
		{"theirs is a prefix", "abcd", "abc"},
		{"binary", "a", "a\x00"},
		{"case", "abc", "ABC"},
		{"number", "1", "1.0"},
		{"theirs is empty", "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := onSharedServer(t)
			// One lock for each operation, because a lock found lost has ended.
			opt := &Options{Token: c.ours}
			refreshed, asked, released := e.obtain(long, opt), e.obtain(long, opt), e.obtain(long, opt)
			e.must(e.redis.HSet(t.Context(), e.key, "token", c.theirs).Err())
			if _, err := e.client.Obtain(t.Context(), e.key, time.Hour, opt); err != ErrNotObtained {
				t.Errorf("Obtain: %v", err)
			}
			if err := refreshed.Refresh(t.Context(), time.Hour, nil); err != ErrNotObtained {
				t.Errorf("Refresh: %v", err)
			}
			if ttl, err := asked.TTL(t.Context()); ttl != 0 || err != nil {
				t.Errorf("TTL = %v, %v", ttl, err)
			}
			if err := released.Release(t.Context()); err != ErrLockNotHeld {
				t.Errorf("Release: %v", err)
			}
			e.wantField(e.key, "token", c.theirs)
			e.wantTTL(e.key, long)
		})
	}
}

func TestExplicitTokenReobtains(t *testing.T) {
	e := onSharedServer(t)
	e.obtain(long, &Options{Token: "mine", Metadata: "old"})
	again := e.obtain(time.Hour, &Options{Token: "mine", Metadata: "new"})
	if again.Token() != "mine" {
		t.Errorf("token = %q", again.Token())
	}
	e.wantField(e.key, "metadata", "new")
	e.wantTTL(e.key, time.Hour)
	e.must(again.Release(t.Context()))
	e.wantGone(e.key)
}

// A lock with a known token meets each kind of failure.
func TestNoErrorShowsTheToken(t *testing.T) {
	const secret = "ownership-secret"
	e := onSharedServer(t)
	opt := &Options{Token: secret, FenceKey: e.fence}
	lock := e.obtain(long, opt)
	proxy, remote := e.proxied()
	cut := &Lock{client: remote, keys: lock.keys, token: secret, lease: lease{sent: lock.lease.sent, span: long}}
	proxy.OnCommand(func(faultproxy.Command) faultproxy.Action { return faultproxy.CutBefore })

	var errs []error
	note := func(err error) {
		t.Helper()
		if err == nil {
			t.Error("no error")
		}
		errs = append(errs, err)
	}
	_, err := remote.Obtain(t.Context(), e.key, long, opt)
	note(err)
	note(cut.Refresh(t.Context(), long, nil))
	_, err = cut.TTL(t.Context())
	note(err)
	note(cut.Release(t.Context()))
	e.must(e.redis.HSet(t.Context(), e.key, "token", "other").Err())
	_, err = e.client.Obtain(t.Context(), e.key, long, opt)
	note(err)
	note(lock.Refresh(t.Context(), long, nil))
	note(lock.Release(t.Context()))
	e.must(e.redis.Set(t.Context(), e.fence, "no number", 0).Err())
	_, err = e.client.Obtain(t.Context(), e.key+"2", long, opt)
	note(err)
	_, err = e.client.Obtain(t.Context(), e.key, -1, &Options{Token: secret, FenceFloor: -1})
	note(err)
	if err := errors.Join(errs...); strings.Contains(err.Error(), secret) {
		t.Errorf("the token is in one of\n%v", err)
	}
}
