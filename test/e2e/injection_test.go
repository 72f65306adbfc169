//go:build chaos && unix

package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/redislock"
)

// inject injects a fault and returns how to heal it; nil if it is over at once.
func (a *arena) inject(s step) (heal func()) {
	switch s.place {
	case atProcess:
		v := a.victim(s)
		a.note(fault, 0, fmt.Sprintf("%v, at %s", s, v.process.label))
		return v.occupy(s.place, a.injectProcess(s, v))
	case atLink:
		v := a.victim(s)
		a.note(fault, 0, fmt.Sprintf("%v, at %s", s, v.process.label))
		a.injectLink(s, v.proxy)
		return v.occupy(s.place, func() {
			a.note(fault, 0, fmt.Sprintf("over: %s", s.kind))
			v.proxy.Heal()
			v.proxy.ResetCommands() // a long run would remember a lot
		})
	}
	a.note(fault, 0, s.String())
	return a.injectRedis(s)
}

// injectProcess strikes a candidate.
func (a *arena) injectProcess(s step, v *slot) (heal func()) {
	switch s.kind {
	case freezeCandidate:
		p := v.process
		_, err := p.freeze()
		a.must(err)
		return func() {
			_, err := p.thaw()
			a.must(err)
		}
	case killCandidate:
		v.process.kill()
	case endCandidate:
		a.ready(v)
		_, err := v.process.terminate()
		a.must(err)
	}
	return func() { a.fill(v) }
}

// injectLink strikes the connections of one candidate.
func (a *arena) injectLink(s step, p *faultproxy.Proxy) {
	switch s.kind {
	case holeLink:
		p.Hole()
	case muteLink:
		p.NoReply(s.dose)
	case delayLink:
		p.Delay(time.Duration(s.dose) * a.lease / 4)
	case cutLink:
		p.Cut()
		p.OnCommand(alternate(faultproxy.CutBefore, faultproxy.Pass, faultproxy.CutAfter))
	case refuseLink:
		p.Refuse()
	}
}

// alternate does to commands one action after the other, again and again. The proxy
// calls it for one command at a time.
func alternate(actions ...faultproxy.Action) func(faultproxy.Command) faultproxy.Action {
	n := 0
	return func(faultproxy.Command) faultproxy.Action {
		n++
		return actions[n%len(actions)]
	}
}

// injectRedis strikes the server, or what it holds.
func (a *arena) injectRedis(s step) (heal func()) {
	ctx := context.Background()
	switch s.kind {
	case killClients:
		a.must(a.client.ClientKillByFilter(ctx, "TYPE", "normal").Err())
		a.must(a.client.ClientKillByFilter(ctx, "TYPE", "pubsub").Err())
	case killPubsub:
		a.must(a.client.ClientKillByFilter(ctx, "TYPE", "pubsub").Err())
	case flushScripts:
		a.must(a.client.ScriptFlush(ctx).Err())
	case pauseClients:
		a.must(a.client.ClientPause(ctx, s.hold).Err())
		return func() {}
	case freezeRedis:
		a.server.Freeze()
		return a.server.Thaw
	case crashRedis:
		a.server.Kill()
		return a.server.Restart
	case loseRedis:
		a.loses("crash, restart without data", a.server.Kill)
		a.must(os.RemoveAll(filepath.Join(a.server.Dir(), "appendonlydir")))
		return a.server.Restart
	case fillMemory:
		a.must(a.client.ConfigSet(ctx, "maxmemory", "1").Err())
		return func() { a.must(a.client.ConfigSet(ctx, "maxmemory", "0").Err()) }
	case flushAll:
		a.loses("FLUSHALL", func() { a.must(a.client.FlushAll(ctx).Err()) })
	case deleteLock:
		a.loses("DEL", func() { a.must(a.client.Del(ctx, a.lockKey()).Err()) })
	case intrude:
		return a.intrude(ctx, s)
	case forge:
		a.forge(ctx, s)
	}
	return nil
}

// intrude puts something else in the place of the lock, a string or a lock of a
// stranger, and takes it away again.
func (a *arena) intrude(ctx context.Context, s step) (heal func()) {
	const long = time.Hour
	a.loses("an intruder", func() {
		_, err := a.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, a.lockKey())
			if s.dose%2 == 0 {
				p.Set(ctx, a.lockKey(), "intruder", long)
				return nil
			}
			p.HSet(ctx, a.lockKey(), "token", "intruder", "metadata", "", "fence", 1)
			p.PExpire(ctx, a.lockKey(), long)
			return nil
		})
		a.must(err)
	})
	return func() {
		left, err := a.client.PTTL(ctx, a.lockKey()).Result()
		a.must(err)
		if left < long/2 { // none, or that of a candidate's lease
			a.t.Errorf("somebody touched the intruder's key: %v left", left)
		}
		a.note(fault, 0, "the intruder leaves")
		a.must(a.client.Del(ctx, a.lockKey()).Err())
	}
}

// forge announces what is not so, and what is nothing.
func (a *arena) forge(ctx context.Context, s step) {
	lies := []string{"released 1000", "taken", "released", "released -1", "released 99999999999999999999", "", "\x00\xff garbage"}
	for range 10 * s.dose {
		for _, channel := range redislock.Channels(a.lockKey()) {
			for _, lie := range lies {
				a.must(a.client.Publish(ctx, channel, lie).Err())
			}
		}
	}
}

// must fails the run for what has to succeed.
func (a *arena) must(err error) {
	a.t.Helper()
	if err != nil {
		a.t.Fatal(err)
	}
}
