package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// newRueidisLocker is a locker for one Redis server: one key for each lock rather than
// the default of three, and no notifications of its own changes, both of which spare it
// work. With the timings of an election it extends its locks as often as package leader
// does.
func newRueidisLocker(addr string, lease time.Duration, l *line) (rueidislock.Locker, error) {
	dial := func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return l.dial(ctx, "tcp", addr)
	}
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{addr}, DialCtxFn: dial},
		KeyMajority:    1,
		NoLoopTracking: true,
		KeyValidity:    lease,
		ExtendInterval: lease / 3,
		// The default of 20 ms bounds each attempt, and a busy machine exceeds that.
		TryNextAfter: lease / 5,
	})
}

func openRueidis(addr string) (cycle, func(), error) {
	locker, err := newRueidisLocker(addr, cycleTTL, &line{})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, key string) error {
		_, release, err := locker.TryWithContext(ctx, key)
		if err != nil {
			return err
		}
		release() // returns when the key is deleted
		return nil
	}, locker.Close, nil
}

func rueidisContender() contender {
	return contender{
		name:     "rueidislock",
		key:      func(name string) string { return "rueidislock:0:" + name },
		sends:    []string{"evalsha", "eval"},
		releases: 1,
		renews:   true,
		enlist: func(a *arena, _ string) (replica, error) {
			l := &line{meter: a.meter}
			locker, err := newRueidisLocker(a.addr, a.timings.lease, l)
			return &rueidisReplica{arena: a, line: l, locker: locker}, err
		},
	}
}

type rueidisReplica struct {
	arena   *arena
	line    *line
	locker  rueidislock.Locker
	release context.CancelFunc
}

func (r *rueidisReplica) compete(ctx context.Context) (_ time.Time, err error) {
	_, r.release, err = r.locker.WithContext(ctx, r.arena.name)
	return time.Now(), err
}

func (r *rueidisReplica) leave(context.Context) (time.Time, error) {
	began := time.Now()
	r.release()
	return began, nil
}

func (r *rueidisReplica) crash() { r.line.cut() }
func (r *rueidisReplica) close() { r.locker.Close() }
