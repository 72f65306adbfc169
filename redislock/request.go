package redislock

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/base64"
	"time"
)

// request is one Obtain. It is the same for each attempt, so that Redis recognises an
// attempt that it has already applied.
type request struct {
	lock *Lock // what the caller gets if an attempt succeeds
	ttl  time.Duration
	opt  *Options

	keys []string // of the script: the locks, and the fence key if there is one
}

func (c *Client) newRequest(keys []string, ttl time.Duration, opt *Options) request {
	l := newLock(c, keys, opt)
	r := request{lock: l, ttl: ttl, opt: opt, keys: l.keys}
	if opt.FenceKey != "" {
		r.keys = append(l.keys, opt.FenceKey) // newLock has left room for it
	}
	l.obtainTTL = milliseconds(ttl)
	l.obtainArgs = [5]any{&l.token, &l.metadata, &l.obtainTTL, &opt.FenceFloor, &l.flags}
	return r
}

// randomToken returns 128 bits from crypto/rand, which would rather crash the program
// than return fewer.
func randomToken() string {
	var random [16]byte
	var text [22]byte
	_, _ = cryptorand.Read(random[:])
	base64.RawURLEncoding.Encode(text[:], random[:])
	return string(text[:])
}

// acquire makes attempts until one is decided or the wait ends.
func (r *request) acquire(ctx context.Context) (*Lock, error) {
	wait := newWaiter(ctx, r.opt.strategy(), r.ttl)
	defer wait.stop()
	for held := false; ; held = true {
		err := r.attempt(wait.ctx)
		if err == ErrNotObtained {
			if err = wait.next(); err == nil {
				continue
			}
			return nil, err
		}
		if err != nil {
			err = wait.explain(err, held) // before the clean-up, which takes time
			r.cleanUp(ctx, err)
			return nil, err
		}
		return r.lock, nil
	}
}

// attempt runs the script once.
func (r *request) attempt(ctx context.Context) error {
	l := r.lock
	sent := l.client.now()
	reply, err := l.client.run(ctx, obtainScript, r.keys, l.obtainArgs[:]...)
	if err != nil {
		return explain(err, l.keys, r.opt.FenceKey)
	}
	fence, holder, err := obtainReply(reply, r.opt.FenceKey)
	if err != nil {
		return err
	}
	if holder != nil {
		if r.opt.OnHeld != nil {
			r.opt.OnHeld(*holder)
		}
		return ErrNotObtained
	}
	l.fence, l.lease.sent, l.lease.span = fence, sent, usable(r.ttl)
	return nil
}

// cleanUp deletes what an attempt with an unknown outcome may have created. Even an
// error sent by Redis leaves the outcome unknown, because go-redis silently sends a
// command again after a lost reply. A token chosen by the caller may belong to a lock
// obtained earlier, so cleanUp does not delete it. It does not ask a server again that
// could not be reached just now.
func (r *request) cleanUp(ctx context.Context, err error) {
	if r.opt.Token != "" || unreachable(err) {
		return
	}
	// The deletion travels on another connection and may overtake the attempt. By the
	// time of its reply, Redis has been through its event loop and has applied the
	// attempt as well. So a second deletion finds what the first came too early for.
	ctx, cancel := detach(ctx, r.ttl)
	defer cancel()
	for range 2 {
		reply, err := r.lock.runRelease(ctx)
		if err != nil || reply != releasedNothing {
			return // what this has not deleted, the ttl will
		}
	}
}
