package leader

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/redisleader/redisleader/redislock"
	"github.com/redisleader/redisleader/redislock/announce"
)

// memServer is a lock server in memory, for tests in bubbles. It keeps account of who
// may hold what, and panics if a fencing token does not rise.
type memServer struct {
	mu      sync.Mutex
	entries map[string]memEntry
	fence   int64
	tokens  int
	log     []string // of commands applied

	fault func(op string) memFault // nil: none

	stagger     time.Duration // what Stagger returns
	watches     map[*memWatch]bool
	unannounced bool // announcements are lost
}

type memEntry struct {
	token, metadata string
	fence           int64
	expires         time.Time
	requested       bool // somebody asks for its release
}

// memFault is what happens to one command.
type memFault struct {
	before, after  time.Duration // latency of the request and of the reply
	err            error         // instead of applying it
	ignoresContext bool          // the caller waits for the reply even if its context ends
}

var errDown = errors.New("connection refused")

func newMemServer() *memServer { return &memServer{entries: make(map[string]memEntry)} }

// do applies one command between its two latencies. The caller stops waiting when ctx
// ends.
func (s *memServer) do(ctx context.Context, op string, apply func() error) error {
	var f memFault
	s.mu.Lock()
	fault := s.fault
	s.mu.Unlock()
	if fault != nil {
		f = fault(op)
	}
	if f.ignoresContext {
		ctx = context.WithoutCancel(ctx)
	}
	if !sleep(ctx, f.before) {
		return ctx.Err()
	}
	if f.err != nil {
		return f.err
	}
	s.mu.Lock()
	s.log = append(s.log, op)
	err := apply()
	s.mu.Unlock()
	if !sleep(ctx, f.after) {
		return ctx.Err()
	}
	return err
}

// live returns the entry of key unless it has expired. The caller holds mu.
func (s *memServer) live(key string) (memEntry, bool) {
	entry, ok := s.entries[key]
	if ok && !time.Now().Before(entry.expires) {
		delete(s.entries, key)
		return memEntry{}, false
	}
	return entry, ok
}

func (s *memServer) setFault(f func(op string) memFault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = f
}

func (s *memServer) holder(key string) (memEntry, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.live(key)
}

func (s *memServer) delete(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, key)
}

// steal replaces what is there with somebody else's lock.
func (s *memServer) steal(key string, ttl time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fence++
	s.entries[key] = memEntry{token: "intruder", metadata: "intruder", fence: s.fence, expires: time.Now().Add(ttl)}
}

// requestRelease asks the holder of key for its release.
func (s *memServer) requestRelease(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry, ok := s.live(key)
	if !ok {
		panic("nobody holds " + key)
	}
	entry.requested = true
	s.entries[key] = entry
}

func (s *memServer) count(op string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, logged := range s.log {
		if logged == op {
			n++
		}
	}
	return n
}

// Obtain makes memServer a locker.
func (s *memServer) Obtain(ctx context.Context, key string, ttl time.Duration, opt *redislock.Options) (lock, error) {
	l := &memLock{server: s, key: key, sent: time.Now(), ttl: ttl, token: opt.Token}
	var held *redislock.Holder
	err := s.do(ctx, "obtain", func() error {
		held = s.obtain(l, opt)
		return nil
	})
	if err != nil {
		if opt.Token == "" {
			_ = l.Release(ctx) // as redislock does after an unknown outcome
		}
		return nil, err
	}
	if held != nil {
		opt.OnHeld(*held)
		return nil, redislock.ErrNotObtained
	}
	return l, nil
}

func (s *memServer) obtain(l *memLock, opt *redislock.Options) *redislock.Holder {
	entry, ok := s.live(l.key)
	if ok && entry.token != l.token {
		return &redislock.Holder{Metadata: entry.metadata, FenceToken: entry.fence, TTL: time.Until(entry.expires)}
	}
	if l.token == "" {
		s.tokens++
		l.token = fmt.Sprintf("token-%d", s.tokens)
	}
	l.fence = entry.fence
	if !ok || l.fence <= opt.FenceFloor {
		l.fence = max(s.fence, opt.FenceFloor) + 1
		if l.fence <= s.fence {
			panic(fmt.Sprintf("fencing token %d after %d", l.fence, s.fence))
		}
		s.fence = l.fence
	}
	s.entries[l.key] = memEntry{l.token, opt.Metadata, l.fence, time.Now().Add(l.ttl), entry.requested}
	if !ok {
		s.announce(announce.Acquired)
	}
	return nil
}

type memLock struct {
	server *memServer
	key    string
	token  string
	fence  int64
	ttl    time.Duration

	mu        sync.Mutex
	sent      time.Time
	gone      bool
	requested bool
}

func (l *memLock) Token() string     { return l.token }
func (l *memLock) FenceToken() int64 { return l.fence }

func (l *memLock) Remaining() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gone {
		return 0
	}
	return l.ttl - redislock.Margin(l.ttl) - time.Since(l.sent)
}

func (l *memLock) Refresh(ctx context.Context, ttl time.Duration, _ *redislock.Options) error {
	if l.Remaining() <= 0 { // as redislock does
		return redislock.ErrNotObtained
	}
	sent, requested := time.Now(), false
	err := l.server.do(ctx, "refresh", func() error {
		entry, ok := l.server.live(l.key)
		if !ok || entry.token != l.token {
			return redislock.ErrNotObtained
		}
		entry.expires = time.Now().Add(ttl)
		l.server.entries[l.key] = entry
		requested = entry.requested
		return nil
	})
	if err == nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.sent, l.requested = sent, requested
	}
	return err
}

func (l *memLock) ReleaseRequested() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.requested
}

func (l *memLock) Release(ctx context.Context) error {
	l.mu.Lock()
	l.gone = true
	l.mu.Unlock()
	return l.server.do(context.WithoutCancel(ctx), "release", func() error {
		entry, ok := l.server.live(l.key)
		if !ok || entry.token != l.token {
			return redislock.ErrLockNotHeld
		}
		delete(l.server.entries, l.key)
		l.server.announce(announce.Released)
		return nil
	})
}

// memWatch hears everything at once, unless announcements are lost.
type memWatch struct {
	server *memServer
	c      chan announce.Announcement
}

func (s *memServer) Stagger() time.Duration { return s.stagger }

func (s *memServer) Watch(string) watch {
	w := &memWatch{s, make(chan announce.Announcement, 1)}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watches == nil {
		s.watches = make(map[*memWatch]bool)
	}
	s.watches[w] = true
	return w
}

// announce reaches all watches. The caller holds mu.
func (s *memServer) announce(kind announce.Kind) {
	if s.unannounced {
		return
	}
	delay := time.Duration(0)
	for w := range s.watches {
		select {
		case <-w.c:
		default:
		}
		w.c <- announce.Announcement{Kind: kind, Delay: delay}
		delay += time.Millisecond
	}
}

func (w *memWatch) Announcements() <-chan announce.Announcement { return w.c }
func (w *memWatch) Join()                                       {}

func (w *memWatch) Close() {
	w.server.mu.Lock()
	defer w.server.mu.Unlock()
	delete(w.server.watches, w)
}
