package main

import (
	"context"
	"crypto/tls"
	"net"
	"time"

	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidislock"
)

// newRueidisLocker returns a locker for one Redis server. It has one key for each lock
// instead of the default of three, and no notifications of its own changes, which both
// save it work. With the timings of an election it extends its locks as often as package
// leader does.
func newRueidisLocker(addr string, lease time.Duration, d *dialer) (rueidislock.Locker, error) {
	dial := func(ctx context.Context, addr string, _ *net.Dialer, _ *tls.Config) (net.Conn, error) {
		return d.dial(ctx, "tcp", addr)
	}
	return rueidislock.NewLocker(rueidislock.LockerOption{
		ClientOption:   rueidis.ClientOption{InitAddress: []string{addr}, DialCtxFn: dial},
		KeyMajority:    1,
		NoLoopTracking: true,
		KeyValidity:    lease,
		ExtendInterval: lease / 3,
		// This bounds each attempt. A busy machine exceeds the default of 20 ms.
		TryNextAfter: lease / 5,
	})
}

func openRueidis(addr string) (cycle, func(), error) {
	locker, err := newRueidisLocker(addr, cycleTTL, &dialer{})
	if err != nil {
		return nil, nil, err
	}
	return func(ctx context.Context, key string) error {
		_, release, err := locker.TryWithContext(ctx, key)
		if err != nil {
			return err
		}
		release() // returns when the key has been deleted
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
		newReplica: func(e *election, _ string) (replica, error) {
			d := &dialer{meter: e.meter}
			locker, err := newRueidisLocker(e.addr, e.timings.lease, d)
			return &rueidisReplica{election: e, dialer: d, locker: locker}, err
		},
	}
}

type rueidisReplica struct {
	election *election
	dialer   *dialer
	locker   rueidislock.Locker
	release  context.CancelFunc
}

func (r *rueidisReplica) compete(ctx context.Context) (_ time.Time, err error) {
	_, r.release, err = r.locker.WithContext(ctx, r.election.name)
	return time.Now(), err
}

func (r *rueidisReplica) leave(context.Context) (time.Time, error) {
	began := time.Now()
	r.release()
	return began, nil
}

func (r *rueidisReplica) crash() { r.dialer.cut() }
func (r *rueidisReplica) close() { r.locker.Close() }
