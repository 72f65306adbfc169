package redislock

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// request asks for the release of the lock named key by a client that has nothing to do
// with its holder.
func (e *environment) request(fenceToken int64) {
	e.Helper()
	e.must(New(e.app).RequestRelease(e.Context(), e.key, fenceToken))
}

// wantRequested fails the test unless the lock can still be refreshed, and then says
// whether its release was requested.
func (e *environment) wantRequested(lock *Lock, want bool) {
	e.Helper()
	e.must(lock.Refresh(e.Context(), long, nil))
	if got := lock.ReleaseRequested(); got != want {
		e.Errorf("after a refresh: ReleaseRequested = %t, want %t", got, want)
	}
}

func TestReleaseRequestIsSeenWithTheNextRefresh(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	e.wantRequested(lock, false)
	e.request(lock.FenceToken())
	if lock.ReleaseRequested() {
		t.Error("seen before any refresh")
	}
	e.wantRequested(lock, true)
	e.wantRequested(lock, true) // it stays
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

// The holder decides what to do about a request. Until then its lock is as good as
// ever.
func TestRequestedReleaseLeavesTheLockAsItIs(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence, Metadata: "me"})
	e.request(lock.FenceToken())
	e.request(lock.FenceToken()) // twice is once
	e.wantTTL(e.key, long)
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl <= 0 {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if got := e.refused(); got.Metadata != "me" || got.FenceToken != lock.FenceToken() || got.Foreign {
		t.Errorf("holder = %+v", got)
	}
	e.must(lock.Refresh(t.Context(), time.Hour, nil))
	e.wantTTL(e.key, time.Hour)
	if left := lock.Remaining(); left > usable(time.Hour) || left < usable(time.Hour)-patience {
		t.Errorf("Remaining = %v, want little less than %v", left, usable(time.Hour))
	}
	e.wantField(e.key, "token", lock.Token())
}

func TestReleaseRequestDoesNotTouchTheTTL(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	e.must(e.redis.PExpire(t.Context(), e.key, 5*time.Second).Err())
	e.request(lock.FenceToken())
	if ttl := e.redis.PTTL(t.Context(), e.key).Val(); ttl > 5*time.Second || ttl <= 0 {
		t.Errorf("ttl = %v, want at most 5 s", ttl)
	}
}

func TestReleaseRequestWithAnotherTokenIsRefused(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence, FenceFloor: 41})
	for _, token := range []int64{0, 1, 4, 41, 43, 420, -42, maxFence, -1 << 63} {
		if err := e.client.RequestRelease(t.Context(), e.key, token); err != ErrLockNotHeld {
			t.Errorf("fencing token %d: %v, want ErrLockNotHeld itself", token, err)
		}
	}
	e.wantRequested(lock, false)
}

func TestReleaseRequestOfAFreeLockIsRefused(t *testing.T) {
	e := onSharedServer(t)
	for _, token := range []int64{0, 1} {
		if err := e.client.RequestRelease(t.Context(), e.key, token); err != ErrLockNotHeld {
			t.Errorf("fencing token %d: %v, want ErrLockNotHeld itself", token, err)
		}
		e.wantGone(e.key)
	}
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	e.wantRequested(lock, false)
}

func TestReleaseRequestLeavesAForeignKeyAlone(t *testing.T) {
	for _, c := range []struct {
		kind string
		fill []any // a command without the key, which comes second
	}{
		{"string", []any{"SET", "1"}},
		{"list", []any{"RPUSH", "1"}},
		{"set", []any{"SADD", "1"}},
		{"zset", []any{"ZADD", 1, "1"}},
		{"stream", []any{"XADD", "*", "fence", "x"}},
		{"hash", []any{"HSET", "metadata", "me"}},
	} {
		t.Run(c.kind, func(t *testing.T) {
			e := onSharedServer(t)
			e.must(e.redis.Do(t.Context(), append([]any{c.fill[0], e.key}, c.fill[1:]...)...).Err())
			before := e.redis.Dump(t.Context(), e.key).Val()
			if err := e.client.RequestRelease(t.Context(), e.key, 1); err != ErrLockNotHeld {
				t.Errorf("RequestRelease: %v, want ErrLockNotHeld itself", err)
			}
			if after := e.redis.Dump(t.Context(), e.key).Val(); after != before || before == "" {
				t.Errorf("key changed from %q to %q", before, after)
			}
		})
	}
}

// A request is for one holder. Whoever obtains the lock next knows nothing of it.
func TestReleaseRequestNeverMeetsALaterHolder(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(*environment, *Lock) error // of the first holder
	}{
		{"released", func(e *environment, lock *Lock) error { return lock.Release(e.Context()) }},
		{"deleted", func(e *environment, _ *Lock) error { return e.redis.Del(e.Context(), e.key).Err() }},
		{"ran out", func(e *environment, _ *Lock) error {
			e.must(e.redis.PExpire(e.Context(), e.key, time.Millisecond).Err())
			e.eventually("the key to go", func() bool { return e.redis.Exists(e.Context(), e.key).Val() == 0 })
			return nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := onSharedServer(t)
			first := e.obtain(long, &Options{FenceKey: e.fence})
			e.request(first.FenceToken())
			e.must(c.end(e, first))
			second := e.obtain(long, &Options{FenceKey: e.fence})
			e.wantRequested(second, false)
			if err := e.client.RequestRelease(t.Context(), e.key, first.FenceToken()); err != ErrLockNotHeld {
				t.Errorf("late request for the first holder: %v, want ErrLockNotHeld", err)
			}
			e.wantRequested(second, false)
			e.request(second.FenceToken())
			e.wantRequested(second, true)
		})
	}
}

// A holder that restarts and re-obtains its lock with an explicit token still learns of
// the request.
func TestReleaseRequestOutlivesAReobtain(t *testing.T) {
	e := onSharedServer(t)
	opt := &Options{FenceKey: e.fence, Token: "mine"}
	first := e.obtain(long, opt)
	e.request(first.FenceToken())
	again := e.obtain(long, opt)
	if again.ReleaseRequested() {
		t.Error("seen before any refresh")
	}
	e.wantRequested(again, true)
}

// A request for any of several locks is a request for all, because they are released as
// one.
func TestReleaseRequestForOneOfSeveralLocks(t *testing.T) {
	for i := range 3 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			e := onSharedServer(t)
			lock, err := e.client.ObtainMulti(t.Context(), e.keys(), long, &Options{FenceKey: e.fence})
			e.must(err)
			e.wantRequested(lock, false)
			e.must(e.client.RequestRelease(t.Context(), e.keys()[i], lock.FenceToken()))
			e.wantRequested(lock, true)
			for _, key := range e.keys() {
				e.wantTTL(key, long)
			}
			e.must(lock.Release(t.Context()))
			for _, key := range e.keys() {
				e.wantGone(key)
			}
		})
	}
}

// A lock without a FenceKey has the fencing token 0.
func TestReleaseRequestForALockWithoutAFence(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	e.request(lock.FenceToken())
	e.wantRequested(lock, true)
}

// What a request needs is what anybody can see: the name of the lock, and the fencing
// token from Holder or HGETALL. The ownership token is not sent.
func TestReleaseRequestNeedsNoOwnershipToken(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	proxy, stranger := e.proxied()
	var holder Holder
	_, err := stranger.Obtain(t.Context(), e.key, long, &Options{OnHeld: func(h Holder) { holder = h }})
	if err != ErrNotObtained {
		t.Fatal(err)
	}
	proxy.ResetCommands()
	e.must(stranger.RequestRelease(t.Context(), e.key, holder.FenceToken))
	sent := calls(proxy)
	if want := []string{"1", e.key, "1"}; len(sent) != 1 || !slices.Equal(sent[0].Args[1:], want) {
		t.Errorf("sent %v, want one script with %q", sent, want)
	}
	e.wantRequested(lock, true)
}

// The user that docs/operating.md describes may request a release.
func TestDocumentedUserCanRequestARelease(t *testing.T) {
	e := onOwnServer(t)
	client := New(e.as("app", e.documented()...))
	lock, err := client.Obtain(t.Context(), appKey, long, &Options{FenceKey: appKey + ":fence"})
	e.must(err)
	e.must(client.RequestRelease(t.Context(), appKey, lock.FenceToken()))
	e.wantRequested(lock, true)
}

func TestDeniedReleaseRequestNamesTheCommand(t *testing.T) {
	for _, missing := range []string{"hget", "hset"} {
		t.Run(missing, func(t *testing.T) {
			e := onOwnServer(t)
			e.key, e.fence = appKey, appKey+":fence"
			lock := e.obtain(long, &Options{FenceKey: e.fence})
			rules := slices.DeleteFunc(e.documented(), func(rule string) bool { return rule == "+"+missing })
			err := New(e.as("app", rules...)).RequestRelease(t.Context(), e.key, lock.FenceToken())
			wantFailure(t, err)
			if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), strings.ToUpper(missing)) {
				t.Errorf("error = %v, want NOPERM and the command %q in it", err, missing)
			}
			e.wantRequested(lock, false)
		})
	}
}

func TestReleaseRequestThatFails(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, &Options{FenceKey: e.fence})
	proxy, client := e.proxied()
	scripts(proxy, faultproxy.CutBefore)
	wantFailure(t, client.RequestRelease(t.Context(), e.key, lock.FenceToken()))
	e.wantRequested(lock, false)

	err := client.RequestRelease(canceled(), e.key, lock.FenceToken())
	wantFailure(t, err)
	wantErrors(t, err, context.Canceled)
	e.wantRequested(lock, false)

	// The outcome is unknown to the client. A repetition settles it.
	scripts(proxy, faultproxy.CutAfter)
	wantFailure(t, client.RequestRelease(t.Context(), e.key, lock.FenceToken()))
	e.must(client.RequestRelease(t.Context(), e.key, lock.FenceToken()))
	e.wantRequested(lock, true)
}

// Only a refresh that succeeded has seen anything.
func TestFailedRefreshSeesNoReleaseRequest(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence})
	e.must(err)
	e.request(lock.FenceToken())
	scripts(proxy, faultproxy.CutAfter)
	wantFailure(t, lock.Refresh(t.Context(), long, nil))
	if lock.ReleaseRequested() {
		t.Error("a refresh without a reply saw the request")
	}
	e.wantRequested(lock, true)
}
