package announce

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
	// keepAlive is how long a connection may be silent before it has to answer a PING.
	// The answer is due within the same time again. Nothing else would show that the
	// server behind a subscription froze and another has taken its place.
	keepAlive = 5 * time.Second

	// A lost connection is opened again after a pause within these limits.
	minReconnect = 50 * time.Millisecond
	maxReconnect = 5 * time.Second
)

// connection serves the watches with one connection to Redis at a time, from the first
// watch to the last. It has two goroutines: one reads, and one changes what is
// subscribed to, so that neither waits for the other.
type connection struct {
	subs    *Subscriptions
	ctx     context.Context
	stop    context.CancelFunc
	changed chan struct{} // there is something to subscribe to or to unsubscribe from

	// The channels whose subscription the server has confirmed. The mutex of subs
	// guards it.
	confirmed map[string]bool
}

// startConnection starts the goroutines. The caller holds the mutex of s.
func startConnection(s *Subscriptions) *connection {
	c := &connection{subs: s, changed: make(chan struct{}, 1), confirmed: make(map[string]bool)}
	c.ctx, c.stop = context.WithCancel(context.Background())
	go c.run() // Subscriptions.join waits for it
	return c
}

// change notes that the wanted channels have changed.
func (c *connection) change() {
	select {
	case c.changed <- struct{}{}:
	default: // that is known already
	}
}

// run serves the watches until it is stopped. go-redis opens the connection, opens it
// again after a failure, and subscribes again. All that is left to do here is to give
// up a connection that is silent for too long.
func (c *connection) run() {
	defer c.subs.ended()
	for c.ctx.Err() == nil {
		pubsub := c.subs.client.Subscribe(c.ctx)
		ctx, cancel := context.WithCancel(c.ctx)
		// A read does not heed its context.
		context.AfterFunc(ctx, func() { _ = pubsub.Close() })
		var writer sync.WaitGroup
		writer.Go(func() { c.subscribe(ctx, pubsub) })
		c.read(ctx, pubsub)
		cancel()
		writer.Wait()
		_ = pubsub.Close() // again, to wait for it
	}
}

// subscribe keeps the connection subscribed to the wanted channels.
func (c *connection) subscribe(ctx context.Context, pubsub *redis.PubSub) {
	var subscribed []string
	for {
		wanted := c.subs.wanted()
		if added := without(wanted, subscribed); len(added) > 0 {
			_ = pubsub.Subscribe(ctx, added...) // the reader sees an error
		}
		if removed := without(subscribed, wanted); len(removed) > 0 {
			_ = pubsub.Unsubscribe(ctx, removed...)
		}
		subscribed = wanted
		select {
		case <-c.changed:
		case <-ctx.Done():
			return
		}
	}
}

// without returns the elements of all that are not in some.
func without(all, some []string) []string {
	known := make(map[string]bool, len(some))
	for _, name := range some {
		known[name] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool { return known[name] })
}

// read passes on what arrives, until the connection is stopped or does not answer.
func (c *connection) read(ctx context.Context, pubsub *redis.PubSub) {
	asked, pause := false, minReconnect
	for ctx.Err() == nil {
		message, err := pubsub.ReceiveTimeout(ctx, keepAlive)
		switch {
		case err == nil:
			asked, pause = false, minReconnect
			c.handle(message)
		case ctx.Err() != nil:
			return
		case !isTimeout(err):
			c.subs.unavailable(c, err)
			sleep(ctx, pause)
			pause = min(2*pause, maxReconnect)
		case asked:
			c.subs.unavailable(c, err)
			return
		default:
			asked = true
			_ = pubsub.Ping(ctx) // the next read sees an error
		}
	}
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.As(err, &network) && network.Timeout()
}

// sleep waits for d or until ctx ends.
func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func (c *connection) handle(message any) {
	switch m := message.(type) {
	case *redis.Subscription:
		if m.Kind == "subscribe" {
			c.subs.subscribed(c, m.Channel)
		} else {
			c.subs.unsubscribed(c, m.Channel)
		}
	case *redis.Message:
		if kind, listeners, ok := decode(m.Payload); ok {
			c.subs.heard(c, m.Channel, kind, listeners)
			// Let the watches send their attempts first. The next read takes longer.
			runtime.Gosched()
		}
	}
}
