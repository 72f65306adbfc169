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
	"github.com/redisleader/redisleader/redislock/announce"
)

// inject injects a fault and returns what ends it, or nil if it has no duration.
func (env *chaosEnvironment) inject(s step) (heal func()) {
	if s.place == atRedis {
		env.record(fault, 0, s.String())
		return env.injectRedis(s)
	}
	m := env.target(s)
	env.record(fault, 0, fmt.Sprintf("%v, at %s", s, m.process.label))
	if s.place == atProcess {
		return m.occupy(s.place, env.injectProcess(s, m))
	}
	env.injectLink(s, m.proxy)
	return m.occupy(s.place, func() {
		env.record(fault, 0, fmt.Sprintf("over: %s", s.kind))
		m.proxy.Heal()
		m.proxy.ResetCommands() // or it would collect the commands of a long run
	})
}

// injectProcess acts on the process of a candidate.
func (env *chaosEnvironment) injectProcess(s step, m *member) (heal func()) {
	switch s.kind {
	case freezeCandidate:
		p := m.process
		_, err := p.freeze()
		env.must(err)
		return func() {
			_, err := p.thaw()
			env.must(err)
		}
	case killCandidate:
		m.process.kill()
	case terminateCandidate:
		env.awaitReady(m)
		env.terminate(m.process)
	}
	return func() { env.startMember(m) }
}

// injectLink acts on the connections of one candidate.
func (env *chaosEnvironment) injectLink(s step, p *faultproxy.Proxy) {
	switch s.kind {
	case holeLink:
		p.Hole()
	case muteLink:
		p.NoReply(s.strength)
	case delayLink:
		p.Delay(time.Duration(s.strength) * env.lease / 4)
	case cutLink:
		p.Cut()
		p.OnCommand(alternate(faultproxy.CutBefore, faultproxy.Pass, faultproxy.CutAfter))
	case refuseLink:
		p.Refuse()
	}
}

// alternate applies the actions to commands in turn, over and over. The proxy calls it
// for one command at a time.
func alternate(actions ...faultproxy.Action) func(faultproxy.Command) faultproxy.Action {
	n := 0
	return func(faultproxy.Command) faultproxy.Action {
		n++
		return actions[n%len(actions)]
	}
}

// injectRedis acts on the server, or on what it holds.
func (env *chaosEnvironment) injectRedis(s step) (heal func()) {
	ctx := context.Background()
	switch s.kind {
	case killClients:
		env.must(env.client.ClientKillByFilter(ctx, "TYPE", "normal").Err())
		env.must(env.client.ClientKillByFilter(ctx, "TYPE", "pubsub").Err())
	case killPubsub:
		env.must(env.client.ClientKillByFilter(ctx, "TYPE", "pubsub").Err())
	case flushScripts:
		env.must(env.client.ScriptFlush(ctx).Err())
	case pauseClients:
		env.must(env.client.ClientPause(ctx, s.hold).Err())
		return func() {}
	case freezeRedis:
		env.server.Freeze()
		return env.server.Thaw
	case crashRedis:
		env.server.Kill()
		return env.server.Restart
	case loseRedis:
		env.loseLock("crash, restart without data", env.server.Kill)
		env.must(os.RemoveAll(filepath.Join(env.server.Dir(), "appendonlydir")))
		return env.server.Restart
	case fillMemory:
		env.must(env.client.ConfigSet(ctx, "maxmemory", "1").Err())
		return func() { env.must(env.client.ConfigSet(ctx, "maxmemory", "0").Err()) }
	case flushAll:
		env.loseLock("FLUSHALL", func() { env.must(env.client.FlushAll(ctx).Err()) })
	case deleteLock:
		env.loseLock("DEL", func() { env.must(env.client.Del(ctx, env.lockKey()).Err()) })
	case replaceLock:
		return env.replaceLock(ctx, s)
	case forge:
		env.forge(ctx, s)
	}
	return nil
}

// replaceLock puts a string, or a lock of a stranger, in the place of the lock and
// removes it again.
func (env *chaosEnvironment) replaceLock(ctx context.Context, s step) (heal func()) {
	const long = time.Hour
	env.loseLock("a foreign value", func() {
		_, err := env.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, env.lockKey())
			if s.strength%2 == 0 {
				p.Set(ctx, env.lockKey(), "foreign", long)
				return nil
			}
			p.HSet(ctx, env.lockKey(), "token", "foreign", "metadata", "", "fence", 1)
			p.PExpire(ctx, env.lockKey(), long)
			return nil
		})
		env.must(err)
	})
	return func() {
		left, err := env.client.PTTL(ctx, env.lockKey()).Result()
		env.must(err)
		if left < long/2 { // it has none, or that of a candidate's lease
			env.t.Errorf("somebody touched the foreign value: it has %v left", left)
		}
		env.record(fault, 0, "the foreign value is removed")
		env.must(env.client.Del(ctx, env.lockKey()).Err())
	}
}

// forgedMessages are announcements of what has not happened, and messages that mean
// nothing.
var forgedMessages = []string{
	"released 1000", "acquired", "released", "released -1", "released 99999999999999999999", "", "\x00\xff garbage",
}

// forge sends them on all channels of the lock.
func (env *chaosEnvironment) forge(ctx context.Context, s step) {
	for range 10 * s.strength {
		for _, channel := range announce.Channels(env.lockKey()) {
			for _, message := range forgedMessages {
				env.must(env.client.Publish(ctx, channel, message).Err())
			}
		}
	}
}
