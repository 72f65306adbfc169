package redislock

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/internal/faultproxy"
)

// calls returns the script calls that a proxy has seen.
func calls(proxy *faultproxy.Proxy) []faultproxy.Command {
	return slices.DeleteFunc(proxy.Commands(), func(c faultproxy.Command) bool { return !c.IsScript() })
}

// operation is one use of a lock, with the keys that it needs.
type operation struct {
	name string
	do   func() error
	keys []string
}

// operations returns uses of the lock named key, in an order in which each succeeds.
func (e *environment) operations(client *Client) []operation {
	var lock *Lock
	obtain := func(opt *Options) func() error {
		return func() (err error) {
			lock, err = client.Obtain(e.Context(), e.key, long, opt)
			return err
		}
	}
	refresh := func() error { return lock.Refresh(e.Context(), long, nil) }
	release := func() error { return lock.Release(e.Context()) }
	ttl := func() error { _, err := lock.TTL(e.Context()); return err }
	request := func() error { return client.RequestRelease(e.Context(), e.key, lock.FenceToken()) }
	held := func() error {
		_, err := client.Obtain(e.Context(), e.key, long, nil)
		if err == ErrNotObtained {
			return nil
		}
		return err
	}
	fenced := &Options{FenceKey: e.fence, FenceFloor: 3, FenceClock: true}
	return []operation{
		{"Obtain", obtain(nil), []string{e.key}},
		{"Obtain of a held lock", held, []string{e.key}},
		{"Refresh", refresh, []string{e.key}},
		{"TTL", ttl, []string{e.key}},
		{"Release", release, []string{e.key}},
		{"Obtain with a fence", obtain(fenced), []string{e.key, e.fence}},
		{"RequestRelease", request, []string{e.key}},
		{"Refresh with a fence", refresh, []string{e.key}},
		{"Release with a fence", release, []string{e.key}},
	}
}

func TestEachOperationIsOneCommand(t *testing.T) {
	e := onSharedServer(t)
	proxy, client := e.proxied()
	for _, op := range e.operations(client) {
		proxy.ResetCommands()
		e.must(op.do())
		sent := proxy.Commands()
		if len(sent) != 1 || sent[0].Name != "EVALSHA" {
			t.Errorf("%s sent %v, want one EVALSHA", op.name, sent)
			continue
		}
		if keys := sent[0].Args[2:]; sent[0].Args[1] != string(rune('0'+len(op.keys))) || !slices.Equal(keys[:len(op.keys)], op.keys) {
			t.Errorf("%s sent %q, want the keys %q", op.name, sent[0].Args, op.keys)
		}
	}
}

func TestUnknownScriptIsSentWhole(t *testing.T) {
	e := onOwnServer(t)
	proxy, client := e.proxied()
	for _, op := range e.operations(client) {
		e.must(e.redis.ScriptFlush(t.Context()).Err())
		proxy.ResetCommands()
		e.must(op.do())
		sent := proxy.Commands()
		if len(sent) != 2 || sent[0].Name != "EVALSHA" || sent[1].Name != "EVAL" {
			t.Errorf("%s sent %v, want EVALSHA and EVAL", op.name, sent)
		}
	}
}

// Redis refuses to run a script with a shebang line when memory is full.
func TestScriptsHaveNoShebang(t *testing.T) {
	for _, source := range []string{obtainSource, refreshSource, releaseSource, requestSource, ttlSource} {
		if !strings.HasPrefix(source, "-- ") {
			t.Errorf("script begins with %.20q", source)
		}
	}
}

// The client's clock is wrong by an hour.
func TestA14_OnlyRelativeTimesAreSent(t *testing.T) {
	for name, off := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			e := onSharedServer(t)
			proxy, client := e.proxied()
			client.now = func() clock.Instant { return clock.Now().SteppedWall(off) }
			lock, err := client.Obtain(t.Context(), e.key, long, &Options{FenceKey: e.fence})
			e.must(err)
			e.wantTTL(e.key, long)
			e.must(lock.Refresh(t.Context(), 2*long, nil))
			e.wantTTL(e.key, 2*long)
			if left := lock.Remaining(); left > usable(2*long) || left < usable(2*long)-patience {
				t.Errorf("Remaining = %v", left)
			}
			sent := calls(proxy)
			if got, want := sent[0].Args[4:], []string{lock.Token(), "", "60000", "0", "f"}; !slices.Equal(got, want) {
				t.Errorf("Obtain sent %q, want %q", got, want)
			}
			if got, want := sent[1].Args[3:], []string{lock.Token(), "120000"}; !slices.Equal(got, want) {
				t.Errorf("Refresh sent %q, want %q", got, want)
			}
		})
	}
}
