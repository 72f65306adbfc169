package redislock

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
	"github.com/redisleader/redisleader/internal/faultproxy"
)

// calls are the script calls that a proxy has seen.
func calls(proxy *faultproxy.Proxy) []faultproxy.Command {
	return slices.DeleteFunc(proxy.Commands(), func(c faultproxy.Command) bool { return !c.IsScript() })
}

// operation is one use of the lock, and what it may take from the server.
type operation struct {
	name string
	do   func() error
	keys []string
}

// operations use the lock of the scene in an order in which each succeeds.
func (s *scene) operations(client *Client) []operation {
	var lock *Lock
	obtain := func(opt *Options) func() error {
		return func() (err error) {
			lock, err = client.Obtain(s.Context(), s.key, long, opt)
			return err
		}
	}
	refresh := func() error { return lock.Refresh(s.Context(), long, nil) }
	release := func() error { return lock.Release(s.Context()) }
	ttl := func() error { _, err := lock.TTL(s.Context()); return err }
	held := func() error {
		_, err := client.Obtain(s.Context(), s.key, long, nil)
		if err == ErrNotObtained {
			return nil
		}
		return err
	}
	fenced := &Options{FenceKey: s.fence, FenceFloor: 3, FenceClock: true}
	return []operation{
		{"Obtain", obtain(nil), []string{s.key}},
		{"Obtain of a held lock", held, []string{s.key}},
		{"Refresh", refresh, []string{s.key}},
		{"TTL", ttl, []string{s.key}},
		{"Release", release, []string{s.key}},
		{"Obtain with a fence", obtain(fenced), []string{s.key, s.fence}},
		{"Refresh with a fence", refresh, []string{s.key}},
		{"Release with a fence", release, []string{s.key}},
	}
}

func TestEachOperationIsOneCommand(t *testing.T) {
	s := newScene(t)
	proxy, client := s.proxied()
	for _, op := range s.operations(client) {
		proxy.ResetCommands()
		s.must(op.do())
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
	s := ownScene(t)
	proxy, client := s.proxied()
	for _, op := range s.operations(client) {
		s.must(s.redis.ScriptFlush(t.Context()).Err())
		proxy.ResetCommands()
		s.must(op.do())
		sent := proxy.Commands()
		if len(sent) != 2 || sent[0].Name != "EVALSHA" || sent[1].Name != "EVAL" {
			t.Errorf("%s sent %v, want EVALSHA and EVAL", op.name, sent)
		}
	}
}

// TestScriptsHaveNoShebang because Redis would check their flags and refuse them whole
// when memory is full.
func TestScriptsHaveNoShebang(t *testing.T) {
	for _, source := range []string{obtainSource, refreshSource, releaseSource, ttlSource} {
		if !strings.HasPrefix(source, "-- ") {
			t.Errorf("script begins with %.20q", source)
		}
	}
}

// TestA14_OnlyRelativeTimesAreSent has the client's clock an hour off.
func TestA14_OnlyRelativeTimesAreSent(t *testing.T) {
	for name, off := range map[string]time.Duration{"fast": time.Hour, "slow": -time.Hour} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t)
			proxy, client := s.proxied()
			client.now = func() clock.Instant { return clock.Now().SteppedWall(off) }
			lock, err := client.Obtain(t.Context(), s.key, long, &Options{FenceKey: s.fence})
			s.must(err)
			s.wantTTL(s.key, long)
			s.must(lock.Refresh(t.Context(), 2*long, nil))
			s.wantTTL(s.key, 2*long)
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
