package redislock

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

func TestA7_AnErrorIsNotASuccess(t *testing.T) {
	for _, c := range []struct {
		name    string
		action  faultproxy.Action
		counter string // shows whether the script was applied
	}{
		{"cut before", faultproxy.CutBefore, ""},
		{"cut after", faultproxy.CutAfter, "1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := onSharedServer(t)
			proxy, client := e.proxied()
			scripts(proxy, c.action)
			lock, err := client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence})
			wantFailure(t, err)
			if lock != nil {
				t.Error("there is a lock despite the error")
			}
			e.wantCounter(c.counter)
			e.wantGone(e.key)
		})
	}
}

func TestA8_AcquireAppliedReplyLost(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied(resending)
	proxy.NoReply(1)
	lock, err := client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence})
	e.must(err)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or no reply was lost", n)
	}
	if left := lock.Remaining(); lock.FenceToken() != 1 || left > usable(long) || left < usable(long)-patience {
		t.Errorf("fence = %d, Remaining = %v", lock.FenceToken(), left)
	}
	e.wantCounter("1")
	e.wantField(e.key, "token", lock.Token())
	e.wantField(e.key, "fence", "1")
}

// The context is canceled when the script has been applied and its reply is lost.
func TestA8_CancelInTheUnknownState(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied(resending)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	proxy.OnCommand(func(faultproxy.Command) faultproxy.Action {
		if ctx.Err() != nil {
			return faultproxy.Pass
		}
		cancel()
		return faultproxy.CutAfter
	})
	lock, err := client.Obtain(ctx, e.key, long, &Options{FenceKey: e.fence})
	if lock != nil {
		t.Error("there is a lock")
	}
	wantFailure(t, err)
	wantErrors(t, err, context.Canceled)
	e.wantCounter("1")
	e.wantGone(e.key)
}

// The deadline passes while the reply is on its way.
func TestA8_DeadlineBeforeTheReply(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	proxy.Delay(200 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Obtain(ctx, e.key, long, &Options{FenceKey: e.fence})
	wantFailure(t, err)
	wantErrors(t, err, context.DeadlineExceeded)
	e.wantCounter("1")
	e.eventually("the lock to go", func() bool { return e.redis.Exists(t.Context(), e.key).Val() == 0 })
}

func TestCleanUpDeletesOnlyOurs(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	other := e.obtain(long, nil)
	scripts(proxy, faultproxy.CutAfter)
	_, err := client.Obtain(t.Context(), e.key, long, nil)
	wantFailure(t, err)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or nothing was cleaned up", n)
	}
	e.wantField(e.key, "token", other.Token())
}

func TestCleanUpSparesAnExplicitToken(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	e.obtain(long, &Options{Token: "mine"})
	scripts(proxy, faultproxy.CutAfter)
	_, err := client.Obtain(t.Context(), e.key, long, &Options{Token: "mine"})
	wantFailure(t, err)
	e.wantField(e.key, "token", "mine")
}

func TestCleanUpIsBounded(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	proxy.Hole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := client.Obtain(ctx, e.key, time.Second, nil)
	wantErrors(t, err, context.DeadlineExceeded)
	if took := time.Since(begin); took > maxDetached+patience/2 {
		t.Errorf("Obtain took %v", took)
	}
}

func TestA15_HiddenRetriesMintOneFenceEach(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied(resending)
	for want := int64(1); want <= 100; want++ {
		proxy.NoReply(1)
		lock, err := client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence})
		e.must(err)
		if lock.FenceToken() != want {
			t.Fatalf("fence = %d, want %d", lock.FenceToken(), want)
		}
		e.wantCounter(strconv.FormatInt(want, 10))
		e.wantField(e.key, "fence", strconv.FormatInt(want, 10))
		e.must(lock.Release(t.Context()))
	}
	if n := len(calls(proxy)); n != 300 {
		t.Errorf("%d script calls, want 3 for each round", n)
	}
}

// Locks are obtained, canceled and released at random moments.
func TestA16_NothingOutlivesRelease(t *testing.T) {
	const workers, rounds = 20, 500
	e := onOwnServer(t)
	options := e.server.Options()
	options.PoolSize = workers
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	locker := New(client)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			key := e.key + strconv.Itoa(worker)
			for range rounds {
				if err := interruptedObtain(t.Context(), locker, key); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if keys, err := e.redis.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("keys left: %q, %v", keys, err)
	}
	_ = client.Close()
	e.eventually("goroutines to end", func() bool { return runtime.NumGoroutine() <= before+workers/2 })
}

// interruptedObtain obtains a lock with a context that ends within 2 ms. If it gets the
// lock, it releases it within 2 ms. Nobody else wants the lock, so the only error that
// matters is to find it held.
func interruptedObtain(ctx context.Context, locker *Client, key string) error {
	var cancel context.CancelFunc
	moment := func() time.Duration { return rand.N(2 * time.Millisecond) }
	if rand.IntN(2) == 0 {
		ctx, cancel = context.WithTimeout(ctx, moment())
	} else {
		ctx, cancel = context.WithCancel(ctx)
		defer time.AfterFunc(moment(), cancel).Stop()
	}
	defer cancel()
	lock, err := locker.Obtain(ctx, key, long, nil)
	if err == ErrNotObtained {
		return errors.New("held by nobody")
	}
	if err != nil {
		return nil
	}
	time.Sleep(moment())
	return lock.Release(ctx)
}

// refusingStates are states in which a server refuses to write.
var refusingStates = []struct {
	name    string
	config  []string
	provoke func(*environment)
	want    string // in lower case, in each error
}{
	{"READONLY", nil, func(e *environment) { e.must(e.redis.Do(e.Context(), "REPLICAOF", "127.0.0.1", "1").Err()) }, "readonly"},
	{"NOREPLICAS", nil, func(e *environment) { e.must(e.redis.ConfigSet(e.Context(), "min-replicas-to-write", "1").Err()) }, "noreplicas"},
	{"MISCONF", []string{"--save", "3600 1"}, failSave, "misconf"},
	{"NOAUTH", nil, func(e *environment) {
		e.must(e.redis.ConfigSet(e.Context(), "requirepass", "x").Err())
		e.must(e.app.Do(e.Context(), "RESET").Err())
	}, "noauth"},
	{"NOPERM", nil, func(e *environment) {
		e.must(e.redis.Do(e.Context(), "ACL", "SETUSER", e.user(), "-hset", "-pexpire", "-del", "-pttl").Err())
	}, "noperm"}, // Redis 7.0 does not say so of a command in a script; nameDenied does
}

// failSave makes the server unable to write its snapshot.
func failSave(e *environment) {
	e.must(os.RemoveAll(e.server.Dir()))
	e.eventually("a failed save", func() bool {
		_ = e.redis.BgSave(e.Context()).Err()
		return strings.Contains(e.redis.Info(e.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
	})
}

// A server that refuses writes neither grants a lock nor says that it is held.
func TestB9_RefusedWriteIsNeitherWonNorLost(t *testing.T) {
	for _, c := range refusingStates {
		t.Run(c.name, func(t *testing.T) {
			e := onOwnServer(t, c.config...)
			defer e.server.Kill() // one that cannot save refuses to shut down
			options := e.server.Options()
			options.MaxRetries = -1
			options.PoolSize = 1
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			e.app, e.client = client, New(client)
			lock := e.obtain(long, nil)
			c.provoke(e)
			_, err := e.client.Obtain(t.Context(), e.key+"2", long, &Options{FenceKey: e.fence})
			for _, err := range []error{err, lock.Refresh(t.Context(), time.Hour, nil), lock.Release(t.Context())} {
				wantFailure(t, err)
				if err != nil && !strings.Contains(strings.ToLower(err.Error()), c.want) {
					t.Errorf("error = %v, want %q in it", err, c.want)
				}
			}
		})
	}
}

func TestB9_OutOfMemory(t *testing.T) {
	e := onOwnServer(t)
	lock := e.obtain(long, &Options{Metadata: "old", Token: "mine"})
	e.must(e.redis.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for _, opt := range []*Options{{}, {FenceKey: e.fence}, {FenceKey: e.fence, FenceClock: true, Token: "other"}} {
		_, err := e.client.Obtain(t.Context(), e.key+"2", long, opt)
		wantFailure(t, err)
		if err != nil && !strings.Contains(err.Error(), "OOM") {
			t.Errorf("error = %v, want OOM in it", err)
		}
		e.wantGone(e.key + "2")
		e.wantCounter("")
	}
	_, err := e.client.Obtain(t.Context(), e.key, time.Hour, &Options{Metadata: "new", Token: "mine"})
	wantFailure(t, err)
	e.wantField(e.key, "metadata", "old")

	e.must(lock.Refresh(t.Context(), time.Hour, nil))
	e.wantTTL(e.key, time.Hour)
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl <= long {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if got := e.refused(); got.Metadata != "old" {
		t.Errorf("holder = %+v", got)
	}
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

// To load a script takes memory too.
func TestB9_OutOfMemoryWithUnknownScripts(t *testing.T) {
	e := onOwnServer(t)
	lock := e.obtain(long, nil)
	e.must(e.redis.ConfigSet(t.Context(), "maxmemory", "1").Err())
	e.must(e.redis.ScriptFlush(t.Context()).Err())
	e.must(lock.Refresh(t.Context(), time.Hour, nil))
	e.must(lock.Release(t.Context()))
	e.wantGone(e.key)
}

// The server loads its data again, slowly.
func TestB9_Loading(t *testing.T) {
	e := onOwnServer(t, "--enable-debug-command", "yes", "--rdbcompression", "no",
		"--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
	lock := e.obtain(long, nil)
	for i := range 50 {
		e.must(e.redis.Set(t.Context(), strconv.Itoa(i), strings.Repeat("x", 2048), 0).Err())
	}
	options := e.server.Options()
	options.MaxRetries = -1
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	var reload sync.WaitGroup
	defer reload.Wait()
	reload.Go(func() { _ = e.redis.Do(t.Context(), "DEBUG", "RELOAD").Err() })
	e.eventually("loading", func() bool {
		return strings.Contains(e.redis.Info(t.Context(), "persistence").Val(), "\nloading:1")
	})
	lock.client = New(client)
	_, err := lock.client.Obtain(t.Context(), e.key, long, nil)
	for _, err := range []error{err, lock.Refresh(t.Context(), long, nil), lock.Release(t.Context())} {
		wantFailure(t, err)
		if err != nil && !strings.Contains(err.Error(), "LOADING") {
			t.Errorf("error = %v, want LOADING in it", err)
		}
	}
}

func TestB9_ClusterDown(t *testing.T) {
	e := onOwnServer(t, "--cluster-enabled", "yes") // no slot is served
	_, err := e.client.Obtain(t.Context(), e.key, long, nil)
	wantFailure(t, err)
	if err != nil && !strings.Contains(err.Error(), "CLUSTERDOWN") {
		t.Errorf("error = %v, want CLUSTERDOWN in it", err)
	}
}

func TestServerAway(t *testing.T) {
	e := onOwnServer(t)
	lock := e.obtain(long, nil)
	e.server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := e.client.Obtain(ctx, e.key, time.Second, nil)
	wantFailure(t, err)
	wantFailure(t, lock.Refresh(ctx, long, nil))
	_, err = lock.TTL(ctx)
	wantFailure(t, err)
	if left := lock.Remaining(); left <= 0 {
		t.Errorf("Remaining = %v", left)
	}
	e.server.Thaw()
	e.must(lock.Refresh(t.Context(), long, nil))
	e.must(lock.Release(t.Context()))
	e.eventually("the lock to go", func() bool { return e.redis.Exists(t.Context(), e.key).Val() == 0 })
}
