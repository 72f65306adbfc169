package redislock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
	"github.com/redisleader/redisleader/internal/redistest"
)

// job is a lock that has a server to itself.
const job = "redisleader:{job}"

// heard waits for the next announcement.
func heard(t *testing.T, w *Watch) Announcement {
	t.Helper()
	select {
	case a := <-w.C:
		return a
	case <-time.After(20 * time.Second):
		t.Fatal("nothing was announced")
		return Announcement{}
	}
}

// expect waits for an announcement of this kind, and passes over others that may be
// repeated.
func expect(t *testing.T, w *Watch, kind AnnouncementKind) Announcement {
	t.Helper()
	for {
		if a := heard(t, w); a.Kind == kind {
			return a
		}
	}
}

// watching returns a watch whose subscription stands, and that ends with the test.
func watching(t *testing.T, c *Client, key string) *Watch {
	t.Helper()
	w := c.Watch(key)
	t.Cleanup(func() { w.Close(); w.Join() })
	expect(t, w, Subscribed)
	return w
}

// subscribers counts the connections in pub/sub mode.
func subscribers(t *testing.T, c *redis.Client) int {
	t.Helper()
	list, err := c.Do(t.Context(), "CLIENT", "LIST", "TYPE", "pubsub").Text()
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(list, "\n")
}

func settle(t *testing.T, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !condition(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

func TestWatchHearsRelease(t *testing.T) {
	s := ownScene(t)
	w := watching(t, New(s.app), job)
	other := watching(t, New(s.app), job+"-other")
	lock, err := Obtain(t.Context(), s.app, job, time.Minute, &Options{Announce: true})
	s.must(err)
	s.must(lock.Release(t.Context()))
	if a := expect(t, w, Released); a.Delay != 0 {
		t.Errorf("the only listener is to wait for %v", a.Delay)
	}
	select {
	case a := <-other.C:
		t.Errorf("the watch of another lock heard %+v", a)
	default:
	}
}

// A release is announced after the delete: who hears it finds the lock free.
func TestReleaseIsAnnouncedWhenTheLockIsFree(t *testing.T) {
	s := ownScene(t)
	client := s.app
	w := watching(t, New(client), job)
	for range 100 {
		lock, err := Obtain(t.Context(), client, job, time.Minute, &Options{Announce: true})
		if err != nil {
			t.Fatal(err)
		}
		go func() { _ = lock.Release(context.Background()) }()
		expect(t, w, Released)
	}
}

func TestWithoutAnnounceNothingIsPublished(t *testing.T) {
	s := ownScene(t)
	heard := s.eavesdrop(Channels(job)...)
	lock, err := Obtain(t.Context(), s.app, job, time.Minute, nil)
	s.must(err)
	s.must(lock.Release(t.Context()))
	if told := s.told(heard, Channels(job)[0]); len(told) != 0 {
		t.Errorf("heard %q", told)
	}
}

func TestWatchesShareOneConnectionWhileThereAreAny(t *testing.T) {
	s := ownScene(t)
	client := s.app
	c := New(client)
	if n := subscribers(t, s.redis); n != 0 {
		t.Fatalf("%d subscribers before the first watch", n)
	}
	var watches []*Watch
	for i := range 100 {
		w := c.Watch(fmt.Sprint(job, i/2)) // two for each lock
		expect(t, w, Subscribed)
		watches = append(watches, w)
	}
	if n := subscribers(t, s.redis); n != 1 {
		t.Errorf("%d connections for %d watches, want 1", n, len(watches))
	}
	for i, w := range watches {
		w.Close()
		w.Close() // twice is once
		if left := len(watches) - 1 - i; left == 50 {
			settle(t, "channels are unsubscribed from", func() bool {
				return s.redis.PubSubNumSub(t.Context(), watches[0].channel).Val()[watches[0].channel] == 0
			})
		}
	}
	watches[0].Join()
	settle(t, "no connection is left", func() bool { return subscribers(t, s.redis) == 0 })
}

// B12: after a lost connection the watch subscribes again and says so, for what
// happened meanwhile went unheard.
func TestWatchSubscribesAgainAfterALostConnection(t *testing.T) {
	s := ownScene(t)
	w := watching(t, s.client, job)
	s.must(s.redis.Do(t.Context(), "CLIENT", "KILL", "TYPE", "pubsub").Err())
	expect(t, w, Subscribed)
	s.server.Shutdown()
	if a := expect(t, w, Unavailable); a.Err == nil {
		t.Error("Unavailable without a reason")
	}
	s.server.Restart()
	expect(t, w, Subscribed)
}

func TestWatchDoesNotSpinWhileRedisIsAway(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := faultproxy.Start(t, server.Addr())
	options := server.Options()
	options.Addr, options.MaxRetries, options.DialerRetries = proxy.Addr(), -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	w := watching(t, New(client), job)
	proxy.Refuse()
	failures := 0
	for end := time.After(2 * time.Second); ; {
		select {
		case a := <-w.C:
			if a.Kind == Unavailable {
				failures++
			}
			continue
		case <-end:
		}
		break
	}
	if failures < 1 || failures > 12 {
		t.Errorf("%d attempts to connect in 2 s, want a few at a falling rate", failures)
	}
	proxy.Heal()
	expect(t, w, Subscribed)
}

// Without the permission to publish or to subscribe, locks work all the same.
func TestAnnouncementsMayBeDenied(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	if err := admin.Do(t.Context(), "ACL", "SETUSER", "mute", "on", ">secret", "resetchannels", "~*", "+@all", "-publish", "-subscribe", "-pubsub").Err(); err != nil {
		t.Fatal(err)
	}
	options := server.Options()
	options.Username, options.Password = "mute", "secret"
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	w := New(client).Watch(job)
	t.Cleanup(func() { w.Close(); w.Join() })
	if a := expect(t, w, Unavailable); a.Err == nil || !strings.Contains(a.Err.Error(), "NOPERM") {
		t.Errorf("Unavailable because of %v, want NOPERM", a.Err)
	}
	lock, err := Obtain(t.Context(), client, job, time.Minute, &Options{Announce: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.Release(t.Context()); err != nil {
		t.Errorf("Release = %v", err)
	}
	if n := admin.Exists(t.Context(), job).Val(); n != 0 {
		t.Error("the lock is left")
	}
}

func TestForgedMessagesAreReadWithCare(t *testing.T) {
	for _, payload := range []string{"", "releas", "released?", "free 1", "takenover"} {
		if kind, _, ok := decode(payload); ok {
			t.Errorf("%q was read as %v", payload, kind)
		}
	}
	for payload, want := range map[string]int{"released": 0, "released x": 0, "released 7": 7, "released 99999999": maxListeners, "released -5": -5} {
		if _, listeners, ok := decode(payload); !ok || listeners != want {
			t.Errorf("%q: %d listeners, %t", payload, listeners, ok)
		}
	}
}

func TestDelaysSpreadAttempts(t *testing.T) {
	if d := delayOf(0, 1); d != 0 {
		t.Errorf("a single listener waits for %v", d)
	}
	for _, listeners := range []int{-5, 0, 1, 2, 100, maxListeners} {
		for index := range 3 {
			low, high := time.Duration(index*max(listeners, 1))*spread, time.Duration((index+1)*max(listeners, 1))*spread
			if d := delayOf(index, listeners); d < low || d > high {
				t.Errorf("delay of watch %d with %d listeners is %v, want %v to %v", index, listeners, d, low, high)
			}
		}
	}
}

// Of many who are told together a few try at once: seldom none, and never a herd.
func TestAFewTryAtOnce(t *testing.T) {
	const listeners, rounds = 50, 1000
	none, atOnce := 0, 0
	for range rounds {
		n := 0
		for range listeners {
			if delayOf(0, listeners) == 0 {
				n++
			}
		}
		atOnce += n
		if n == 0 {
			none++
		}
	}
	if mean := float64(atOnce) / rounds; mean < 1 || mean > 4 {
		t.Errorf("%.2f of %d try at once on average", mean, listeners)
	}
	if none > rounds/3 {
		t.Errorf("nobody tried at once in %d of %d rounds", none, rounds)
	}
}

// mute is a client that can run scripts and nothing else.
type mute struct{ redis.Scripter }

func TestClientWithoutSubscribeGivesASilentWatch(t *testing.T) {
	w := New(mute{}).Watch(job)
	defer w.Join()
	defer w.Close()
	select {
	case a := <-w.C:
		t.Errorf("heard %+v", a)
	default:
	}
}

func TestUnreadAnnouncementsAreReplaced(t *testing.T) {
	w := &Watch{c: make(chan Announcement, 1)}
	w.deliver(Announcement{Kind: Released})
	w.deliver(Announcement{Kind: Taken})
	if a := <-w.c; a.Kind != Taken || len(w.c) != 0 {
		t.Errorf("read %+v, %d left", a, len(w.c))
	}
}
