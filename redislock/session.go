package redislock

import (
	"context"
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// keepAlive is after how long a silent connection is asked whether it is still
	// there. The answer is due within as long again. Nothing else notices that the
	// server behind a subscription froze and another has taken its place.
	keepAlive = 5 * time.Second

	// A session that has lost its connection waits before it opens another.
	minReconnect = 50 * time.Millisecond
	maxReconnect = 5 * time.Second
)

// session serves a hub's watches with one connection at a time, from the first watch to
// the last. Two goroutines belong to it: one reads, one changes what is subscribed to,
// so that neither waits for the other.
type session struct {
	hub       *hub
	ctx       context.Context
	stop      context.CancelFunc
	changed   chan struct{}   // there is something to subscribe to or to unsubscribe from
	confirmed map[string]bool // channels whose subscription the server has confirmed; guarded by the hub's mutex
}

// startSession starts a session for the hub, whose mutex the caller holds.
func startSession(h *hub) *session {
	s := &session{hub: h, changed: make(chan struct{}, 1), confirmed: make(map[string]bool)}
	s.ctx, s.stop = context.WithCancel(context.Background())
	go s.run() // hub.join waits for it
	return s
}

// change says that the channels that are wanted have changed.
func (s *session) change() {
	select {
	case s.changed <- struct{}{}:
	default: // it is known already
	}
}

// run serves the watches until the session ends. The client library opens the
// connection, and again after it failed, and subscribes anew; only a connection that is
// silent for too long is given up here.
func (s *session) run() {
	defer s.hub.end()
	for s.ctx.Err() == nil {
		pubsub := s.hub.client.Subscribe(s.ctx)
		ctx, cancel := context.WithCancel(s.ctx)
		context.AfterFunc(ctx, func() { _ = pubsub.Close() }) // a read does not heed its context
		var writer sync.WaitGroup
		writer.Go(func() { s.subscribe(ctx, pubsub) })
		s.read(ctx, pubsub)
		cancel()
		writer.Wait()
		_ = pubsub.Close() // once more, to wait for it
	}
}

// subscribe keeps what the connection is subscribed to in step with what is wanted.
func (s *session) subscribe(ctx context.Context, pubsub *redis.PubSub) {
	var subscribed []string
	for {
		wanted := s.hub.wanted()
		if added := without(wanted, subscribed); len(added) > 0 {
			_ = pubsub.Subscribe(ctx, added...) // an error shows where the connection is read
		}
		if removed := without(subscribed, wanted); len(removed) > 0 {
			_ = pubsub.Unsubscribe(ctx, removed...)
		}
		subscribed = wanted
		select {
		case <-s.changed:
		case <-ctx.Done():
			return
		}
	}
}

// without returns those of all that are not among some.
func without(all, some []string) []string {
	known := make(map[string]bool, len(some))
	for _, name := range some {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return known[name] })
}

// read passes on what arrives until the session ends or the connection does not answer.
func (s *session) read(ctx context.Context, pubsub *redis.PubSub) {
	asked, pause := false, minReconnect
	for ctx.Err() == nil {
		message, err := pubsub.ReceiveTimeout(ctx, keepAlive)
		switch {
		case err == nil:
			asked, pause = false, minReconnect
			s.handle(message)
		case ctx.Err() != nil:
			return
		case !isTimeout(err):
			s.hub.tellAll(s, Announcement{Kind: Unavailable, Err: err})
			_ = wait(ctx, pause) // the loop sees that ctx has ended
			pause = min(2*pause, maxReconnect)
		case asked:
			s.hub.tellAll(s, Announcement{Kind: Unavailable, Err: err})
			return
		default:
			asked = true
			_ = pubsub.Ping(ctx) // an error shows at the next read
		}
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

func (s *session) handle(message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			s.hub.tell(s, m.Channel, Announcement{Kind: Subscribed}, 0)
		} else {
			s.hub.deafTo(s, m.Channel)
		}
	case *redis.Message:
		if kind, listeners, ok := decode(m.Payload); ok {
			s.hub.tell(s, m.Channel, Announcement{Kind: kind}, listeners)
			runtime.Gosched() // who was told comes first: the next read takes longer than an attempt takes to be sent
		}
	}
}
