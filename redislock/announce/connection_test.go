package announce

import (
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/faultproxy"
)

// B12: after a lost connection the watch subscribes again and says so, because what
// happened in between went unheard.
func TestWatchSubscribesAgainAfterALostConnection(t *testing.T) {
	e := onOwnServer(t)
	w := e.watching(New(e.app), job)
	e.killSubscriptions()
	e.expect(w, Subscribed)
	e.server.Shutdown()
	if a := e.expect(w, Unavailable); a.Err == nil {
		t.Error("Unavailable without a reason")
	}
	e.server.Restart()
	e.expect(w, Subscribed)
	e.publish(w.channel, "released 1")
	e.expect(w, Released)
}

func TestWatchDoesNotSpinWhileRedisIsAway(t *testing.T) {
	e := onOwnServer(t)
	proxy := faultproxy.Start(t, e.server.Addr())
	options := e.server.Options()
	options.Addr, options.MaxRetries, options.DialerRetries = proxy.Addr(), -1, 1
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	w := e.watching(New(client), job)
	proxy.Refuse()
	if n := failures(w, 2*time.Second); n < 1 || n > 12 {
		t.Errorf("%d attempts to connect in 2 s, want a few at a falling rate", n)
	}
	proxy.Heal()
	e.expect(w, Subscribed)
}

// failures counts how often a watch becomes unavailable within a time.
func failures(w *Watch, within time.Duration) (n int) {
	for end := time.After(within); ; {
		select {
		case a := <-w.C:
			if a.Kind == Unavailable {
				n++
			}
		case <-end:
			return n
		}
	}
}

func TestUnavailableSaysWhatIsDenied(t *testing.T) {
	e := onOwnServer(t)
	e.must(e.redis.Do(t.Context(), "ACL", "SETUSER", "mute", "on", ">secret", "allchannels", "+@all", "-subscribe").Err())
	options := e.server.Options()
	options.Username, options.Password = "mute", "secret"
	client := redis.NewClient(options)
	t.Cleanup(func() { _ = client.Close() })
	w := New(client).Watch(job)
	defer w.Join()
	defer w.Close()
	a := e.expect(w, Unavailable)
	if a.Err == nil || !strings.Contains(a.Err.Error(), "NOPERM") || !strings.Contains(a.Err.Error(), "subscribe") {
		t.Errorf("Unavailable because of %v, want NOPERM and the command", a.Err)
	}
}
