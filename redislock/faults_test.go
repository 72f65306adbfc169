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
			s := newScene(t)
			proxy, client := s.proxied()
			scripts(proxy, c.action)
			lock, err := client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence})
			wantTrouble(t, err)
			if lock != nil {
				t.Error("there is a lock in spite of the error")
			}
			s.wantCounter(c.counter)
			s.wantGone(s.key)
		})
	}
}

func TestA8_AcquireAppliedReplyLost(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied(resending)
	proxy.NoReply(1)
	lock, err := client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence})
	s.must(err)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or no reply was lost", n)
	}
	if left := lock.Remaining(); lock.FenceToken() != 1 || left > usable(long) || left < usable(long)-patience {
		t.Errorf("fence = %d, Remaining = %v", lock.FenceToken(), left)
	}
	s.wantCounter("1")
	s.wantField(s.key, "token", lock.Token())
	s.wantField(s.key, "fence", "1")
}

// TestA8_CancelInTheUnknownState cancels when the script has been applied and its reply
// is lost.
func TestA8_CancelInTheUnknownState(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied(resending)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	proxy.OnCommand(func(faultproxy.Command) faultproxy.Action {
		if ctx.Err() != nil {
			return faultproxy.Pass
		}
		cancel()
		return faultproxy.CutAfter
	})
	lock, err := client.Obtain(ctx, s.key, long, &Options{FenceKey: s.fence})
	if lock != nil {
		t.Error("there is a lock")
	}
	wantTrouble(t, err)
	wantErrors(t, err, context.Canceled)
	s.wantCounter("1")
	s.wantGone(s.key)
}

// TestA8_DeadlineBeforeTheReply has the reply under way when the deadline passes.
func TestA8_DeadlineBeforeTheReply(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	proxy.Delay(200 * time.Millisecond)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := client.Obtain(ctx, s.key, long, &Options{FenceKey: s.fence})
	wantTrouble(t, err)
	wantErrors(t, err, context.DeadlineExceeded)
	s.wantCounter("1")
	s.eventually("the lock to go", func() bool { return s.redis.Exists(t.Context(), s.key).Val() == 0 })
}

func TestCleanUpDeletesOnlyOurs(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	other := s.obtain(long, nil)
	scripts(proxy, faultproxy.CutAfter)
	_, err := client.Obtain(t.Context(), s.key, long, nil)
	wantTrouble(t, err)
	if n := len(calls(proxy)); n != 2 {
		t.Errorf("%d script calls, want 2, or nothing was cleaned up", n)
	}
	s.wantField(s.key, "token", other.Token())
}

func TestCleanUpSparesAnExplicitToken(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	s.obtain(long, &Options{Token: "mine"})
	scripts(proxy, faultproxy.CutAfter)
	_, err := client.Obtain(t.Context(), s.key, long, &Options{Token: "mine"})
	wantTrouble(t, err)
	s.wantField(s.key, "token", "mine")
}

func TestCleanUpIsBounded(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	proxy.Hole()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	begin := time.Now()
	_, err := client.Obtain(ctx, s.key, time.Second, nil)
	wantErrors(t, err, context.DeadlineExceeded)
	if took := time.Since(begin); took > maxDetached+patience/2 {
		t.Errorf("Obtain took %v", took)
	}
}

func TestA15_HiddenRetriesMintOneFenceEach(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied(resending)
	for want := int64(1); want <= 100; want++ {
		proxy.NoReply(1)
		lock, err := client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence})
		s.must(err)
		if lock.FenceToken() != want {
			t.Fatalf("fence = %d, want %d", lock.FenceToken(), want)
		}
		s.wantCounter(strconv.FormatInt(want, 10))
		s.wantField(s.key, "fence", strconv.FormatInt(want, 10))
		s.must(lock.Release(t.Context()))
	}
	if n := len(calls(proxy)); n != 300 {
		t.Errorf("%d script calls, want 3 for each round", n)
	}
}

// TestA16_NothingOutlivesRelease obtains, cancels and releases at random moments.
func TestA16_NothingOutlivesRelease(t *testing.T) {
	const workers, rounds = 20, 500
	s := ownScene(t)
	options := s.server.Options()
	options.PoolSize = workers
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	locker := New(client)
	before := runtime.NumGoroutine()
	var all sync.WaitGroup
	for worker := range workers {
		all.Go(func() {
			key := s.key + strconv.Itoa(worker)
			for range rounds {
				if err := interruptedObtain(t.Context(), locker, key); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if keys, err := s.redis.Keys(t.Context(), "*").Result(); err != nil || len(keys) > 0 {
		t.Errorf("keys left: %q, %v", keys, err)
	}
	_ = client.Close()
	s.eventually("goroutines to end", func() bool { return runtime.NumGoroutine() <= before+workers/2 })
}

// interruptedObtain obtains a lock with a context that ends within 2 ms, and if it gets
// it releases it within 2 ms. Nobody else wants the lock, so the only error worth
// mention is to find it held.
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

// troubles are states in which a server refuses to write.
var troubles = []struct {
	name    string
	config  []string
	provoke func(*scene)
	want    string // in lower case, in each error
}{
	{"READONLY", nil, func(s *scene) { s.must(s.redis.Do(s.Context(), "REPLICAOF", "127.0.0.1", "1").Err()) }, "readonly"},
	{"NOREPLICAS", nil, func(s *scene) { s.must(s.redis.ConfigSet(s.Context(), "min-replicas-to-write", "1").Err()) }, "noreplicas"},
	{"MISCONF", []string{"--save", "3600 1"}, failSave, "misconf"},
	{"NOAUTH", nil, func(s *scene) {
		s.must(s.redis.ConfigSet(s.Context(), "requirepass", "x").Err())
		s.must(s.app.Do(s.Context(), "RESET").Err())
	}, "noauth"},
	{"NOPERM", nil, func(s *scene) {
		s.must(s.redis.Do(s.Context(), "ACL", "SETUSER", s.user(), "-hset", "-pexpire", "-del", "-pttl").Err())
	}, "noperm"}, // within a script Redis 7.0 says neither that nor the command; the scripts do
}

// failSave makes the server unable to write its snapshot.
func failSave(s *scene) {
	s.must(os.RemoveAll(s.server.Dir()))
	s.eventually("a failed save", func() bool {
		_ = s.redis.BgSave(s.Context()).Err()
		return strings.Contains(s.redis.Info(s.Context(), "persistence").Val(), "rdb_last_bgsave_status:err")
	})
}

// TestB9_RefusedWriteIsNeitherWonNorLost takes a lock into each trouble.
func TestB9_RefusedWriteIsNeitherWonNorLost(t *testing.T) {
	for _, c := range troubles {
		t.Run(c.name, func(t *testing.T) {
			s := ownScene(t, c.config...)
			defer s.server.Kill() // one that cannot save refuses to end in good order
			options := s.server.Options()
			options.MaxRetries = -1
			options.PoolSize = 1
			client := redis.NewClient(options)
			defer func() { _ = client.Close() }()
			s.app, s.client = client, New(client)
			lock := s.obtain(long, nil)
			c.provoke(s)
			_, err := s.client.Obtain(t.Context(), s.key+"2", long, &Options{FenceKey: s.fence})
			for _, err := range []error{err, lock.Refresh(t.Context(), time.Hour, nil), lock.Release(t.Context())} {
				wantTrouble(t, err)
				if err != nil && !strings.Contains(strings.ToLower(err.Error()), c.want) {
					t.Errorf("error = %v, want %q in it", err, c.want)
				}
			}
		})
	}
}

func TestB9_OutOfMemory(t *testing.T) {
	s := ownScene(t)
	lock := s.obtain(long, &Options{Metadata: "old", Token: "mine"})
	s.must(s.redis.ConfigSet(t.Context(), "maxmemory", "1").Err())
	for _, opt := range []*Options{{}, {FenceKey: s.fence}, {FenceKey: s.fence, FenceClock: true, Token: "other"}} {
		_, err := s.client.Obtain(t.Context(), s.key+"2", long, opt)
		wantTrouble(t, err)
		if err != nil && !strings.Contains(err.Error(), "OOM") {
			t.Errorf("error = %v, want OOM in it", err)
		}
		s.wantGone(s.key + "2")
		s.wantCounter("")
	}
	_, err := s.client.Obtain(t.Context(), s.key, time.Hour, &Options{Metadata: "new", Token: "mine"})
	wantTrouble(t, err)
	s.wantField(s.key, "metadata", "old")

	s.must(lock.Refresh(t.Context(), time.Hour, nil))
	s.wantTTL(s.key, time.Hour)
	if ttl, err := lock.TTL(t.Context()); err != nil || ttl <= long {
		t.Errorf("TTL = %v, %v", ttl, err)
	}
	if got := s.refused(); got.Metadata != "old" {
		t.Errorf("holder = %+v", got)
	}
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
}

// TestB9_OutOfMemoryWithUnknownScripts because loading a script takes memory too.
func TestB9_OutOfMemoryWithUnknownScripts(t *testing.T) {
	s := ownScene(t)
	lock := s.obtain(long, nil)
	s.must(s.redis.ConfigSet(t.Context(), "maxmemory", "1").Err())
	s.must(s.redis.ScriptFlush(t.Context()).Err())
	s.must(lock.Refresh(t.Context(), time.Hour, nil))
	s.must(lock.Release(t.Context()))
	s.wantGone(s.key)
}

// TestB9_Loading has the server load its data anew, slowly.
func TestB9_Loading(t *testing.T) {
	s := ownScene(t, "--enable-debug-command", "yes", "--rdbcompression", "no",
		"--key-load-delay", "20000", "--loading-process-events-interval-bytes", "1024")
	lock := s.obtain(long, nil)
	for i := range 50 {
		s.must(s.redis.Set(t.Context(), strconv.Itoa(i), strings.Repeat("x", 2048), 0).Err())
	}
	options := s.server.Options()
	options.MaxRetries = -1
	client := redis.NewClient(options)
	defer func() { _ = client.Close() }()
	var reload sync.WaitGroup
	defer reload.Wait()
	reload.Go(func() { _ = s.redis.Do(t.Context(), "DEBUG", "RELOAD").Err() })
	s.eventually("loading", func() bool {
		return strings.Contains(s.redis.Info(t.Context(), "persistence").Val(), "\nloading:1")
	})
	lock.client = New(client)
	_, err := lock.client.Obtain(t.Context(), s.key, long, nil)
	for _, err := range []error{err, lock.Refresh(t.Context(), long, nil), lock.Release(t.Context())} {
		wantTrouble(t, err)
		if err != nil && !strings.Contains(err.Error(), "LOADING") {
			t.Errorf("error = %v, want LOADING in it", err)
		}
	}
}

func TestB9_ClusterDown(t *testing.T) {
	s := ownScene(t, "--cluster-enabled", "yes") // no slot is served
	_, err := s.client.Obtain(t.Context(), s.key, long, nil)
	wantTrouble(t, err)
	if err != nil && !strings.Contains(err.Error(), "CLUSTERDOWN") {
		t.Errorf("error = %v, want CLUSTERDOWN in it", err)
	}
}

func TestServerAway(t *testing.T) {
	s := ownScene(t)
	lock := s.obtain(long, nil)
	s.server.Freeze()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := s.client.Obtain(ctx, s.key, time.Second, nil)
	wantTrouble(t, err)
	wantTrouble(t, lock.Refresh(ctx, long, nil))
	_, err = lock.TTL(ctx)
	wantTrouble(t, err)
	if left := lock.Remaining(); left <= 0 {
		t.Errorf("Remaining = %v", left)
	}
	s.server.Thaw()
	s.must(lock.Refresh(t.Context(), long, nil))
	s.must(lock.Release(t.Context()))
	s.eventually("the lock to go", func() bool { return s.redis.Exists(t.Context(), s.key).Val() == 0 })
}
