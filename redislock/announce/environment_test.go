package announce

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// job is the lock that most tests watch.
const job = "redisleader:{job}"

// patience is how long to wait for what should happen at once, on a busy machine.
const patience = 20 * time.Second

// environment is what one test works with: a server of its own, and clients that reach
// it directly.
type environment struct {
	*testing.T
	server *redistest.Server
	redis  *redis.Client // of the test itself, with all rights
	app    *redis.Client // of the code under test: see redistest.LeastPrivilege
}

// onOwnServer makes the test parallel, on a server of its own that it may harm.
func onOwnServer(t *testing.T) *environment {
	t.Helper()
	t.Parallel()
	server := redistest.Start(t)
	app := redis.NewClient(server.Options())
	t.Cleanup(func() { _ = app.Close() })
	return &environment{T: t, server: server, redis: server.Client(t), app: app}
}

// must fails the test at once if there is an error.
func (e *environment) must(err error) {
	e.Helper()
	if err != nil {
		e.Fatal(err)
	}
}

// publish sends a message as the scripts of package redislock do.
func (e *environment) publish(channel, payload string) {
	e.Helper()
	e.must(e.redis.Publish(e.Context(), channel, payload).Err())
}

// killSubscriptions cuts all connections in pub/sub mode.
func (e *environment) killSubscriptions() {
	e.Helper()
	e.must(e.redis.Do(e.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
}

// connections counts the connections in pub/sub mode.
func (e *environment) connections() int {
	e.Helper()
	list, err := e.redis.Do(e.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	e.must(err)
	return strings.Count(list, "\n")
}

// listeners counts the connections that are subscribed to a channel.
func (e *environment) listeners(channel string) int64 {
	e.Helper()
	counts, err := e.redis.PubSubNumSub(e.Context(), channel).Result()
	e.must(err)
	return counts[channel]
}

// eventually waits until the condition holds.
func (e *environment) eventually(what string, condition func() bool) {
	e.Helper()
	for begin := time.Now(); !condition(); time.Sleep(time.Millisecond) {
		if time.Since(begin) > patience {
			e.Fatalf("waited in vain for %s", what)
		}
	}
}

// watching returns a watch that has subscribed already and ends with the test.
func (e *environment) watching(s *Subscriptions, key string) *Watch {
	e.Helper()
	w := s.Watch(key)
	e.Cleanup(func() { w.Close(); w.Join() })
	e.expect(w, Subscribed)
	return w
}

// expect waits for an announcement of this kind and skips others, which may be
// repeated.
func (e *environment) expect(w *Watch, kind Kind) Announcement {
	e.Helper()
	for timeout := time.After(patience); ; {
		select {
		case a := <-w.C:
			if a.Kind == kind {
				return a
			}
		case <-timeout:
			e.Fatalf("waited in vain for an announcement of kind %v", kind)
		}
	}
}

// expectNothing fails the test if there is an announcement to read.
func expectNothing(t *testing.T, w *Watch) {
	t.Helper()
	select {
	case a := <-w.C:
		t.Errorf("the watch received %+v", a)
	default:
	}
}
