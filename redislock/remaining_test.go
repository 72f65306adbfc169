package redislock

import (
	"sync"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/clock"
)

var origin = clock.At(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))

// after returns the instant d after the origin.
func after(d time.Duration) clock.Instant { return clock.At(origin.Time().Add(d)) }

// leased returns a lease of 10 s that starts at the origin.
func leased() *lease { return &lease{sent: origin, span: 10 * time.Second} }

// wantLeft fails the test unless want remains of the lease at this instant.
func wantLeft(t *testing.T, l *lease, at clock.Instant, want time.Duration) {
	t.Helper()
	if got := l.remaining(at); got != want {
		t.Errorf("remaining at +%v = %v, want %v", at.Since(origin), got, want)
	}
}

func TestMargin(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		time.Millisecond:       2010 * time.Microsecond,
		100 * time.Millisecond: 3 * time.Millisecond,
		15 * time.Second:       152 * time.Millisecond,
		24 * time.Hour:         14*time.Minute + 24*time.Second + 2*time.Millisecond,
	} {
		if got := Margin(ttl); got != want {
			t.Errorf("Margin(%v) = %v, want %v", ttl, got, want)
		}
		if got := usable(ttl); got != ttl-want {
			t.Errorf("usable(%v) = %v, want %v", ttl, got, ttl-want)
		}
	}
}

func TestDriftMargin(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		time.Second:      988 * time.Millisecond,
		10 * time.Second: 9898 * time.Millisecond,
		time.Hour:        time.Hour - 36*time.Second - 2*time.Millisecond,
		time.Millisecond: -1010 * time.Microsecond,
	} {
		if got := usable(ttl); got != want {
			t.Errorf("usable(%v) = %v, want %v", ttl, got, want)
		}
	}
}

func TestRemainingCountsDown(t *testing.T) {
	l := leased()
	wantLeft(t, l, origin, 10*time.Second)
	wantLeft(t, l, after(4*time.Second), 6*time.Second)
	wantLeft(t, l, after(10*time.Second-1), 1)
	wantLeft(t, l, after(10*time.Second), 0)
	wantLeft(t, l, after(11*time.Second), -time.Second)
}

func TestRemainingOnceLostStaysLost(t *testing.T) {
	l := leased()
	wantLeft(t, l, after(10*time.Second), 0)
	wantLeft(t, l, after(time.Second), 0)
	if l.begin(after(time.Second), time.Hour) {
		t.Error("a refresh may be sent")
	}
	if l.extend(after(time.Second), after(time.Second), false) {
		t.Error("a success brought it back")
	}
	wantLeft(t, l, after(time.Second), 0)
}

func TestRemainingSeesSuspendAndSteps(t *testing.T) {
	now := clock.Now()
	for name, at := range map[string]clock.Instant{
		"suspend":      now.Suspended(7 * time.Second),
		"forward step": now.SteppedWall(7 * time.Second),
	} {
		l := &lease{sent: now, span: 10 * time.Second}
		if got := l.remaining(at); got != 3*time.Second {
			t.Errorf("%s: remaining = %v, want 3s", name, got)
		}
	}
}

func TestRemainingIgnoresABackwardStep(t *testing.T) {
	now := clock.Now()
	l := &lease{sent: now.SteppedWall(0), span: 10 * time.Second}
	// The wall clock was set back by an hour, while boot time went on by 7 s.
	if got := l.remaining(now.SteppedWall(-time.Hour).Suspended(7 * time.Second)); got != 3*time.Second {
		t.Errorf("remaining = %v, want 3s", got)
	}
}

func TestRefreshCountsFromItsSend(t *testing.T) {
	l := leased()
	l.begin(after(4*time.Second), 20*time.Second)
	wantLeft(t, l, after(8*time.Second), 2*time.Second) // not yet
	if !l.extend(after(8*time.Second), after(4*time.Second), false) {
		t.Error("the lease ended")
	}
	wantLeft(t, l, after(8*time.Second), 16*time.Second)
}

func TestLateRefreshDoesNotRevive(t *testing.T) {
	l := leased()
	l.begin(after(9*time.Second), 20*time.Second)
	if l.extend(after(10*time.Second), after(9*time.Second), false) {
		t.Error("the lease goes on")
	}
	wantLeft(t, l, after(10*time.Second), 0)
}

func TestFailedRefreshChangesNothing(t *testing.T) {
	l := leased()
	l.begin(after(4*time.Second), 20*time.Second)
	l.abandon()
	wantLeft(t, l, after(8*time.Second), 2*time.Second)
	if l.inFlight != 0 {
		t.Errorf("%d in flight", l.inFlight)
	}
}

func TestShorterRefreshCountsAtOnce(t *testing.T) {
	l := leased()
	l.begin(after(4*time.Second), 3*time.Second)
	wantLeft(t, l, after(5*time.Second), 2*time.Second)
	l.abandon()
	wantLeft(t, l, after(5*time.Second), 2*time.Second) // Redis may have applied it
}

// Refresh a is sent at 1 s and b at 2 s. They use two connections, so Redis may apply
// them in either order, and their replies may arrive in either order.
func TestOverlappingRefreshes(t *testing.T) {
	const longer, shorter = 30 * time.Second, 12 * time.Second
	for _, c := range []struct {
		name          string
		a, b          time.Duration // spans
		first, second string        // the replies
		between, end  time.Duration // when the lease ends after each
	}{
		{"same", longer, longer, "a", "b", 31 * time.Second, 32 * time.Second},
		{"same, reversed", longer, longer, "b", "a", 32 * time.Second, 32 * time.Second},
		{"shortens", longer, shorter, "a", "b", 13 * time.Second, 14 * time.Second},
		{"shortens, reversed", longer, shorter, "b", "a", 14 * time.Second, 14 * time.Second},
		{"lengthens", shorter, longer, "a", "b", 13 * time.Second, 14 * time.Second},
		{"lengthens, reversed", shorter, longer, "b", "a", 14 * time.Second, 14 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := leased()
			sent := map[string]clock.Instant{"a": after(1 * time.Second), "b": after(2 * time.Second)}
			l.begin(sent["a"], c.a)
			l.begin(sent["b"], c.b)
			now := after(3 * time.Second)
			if !l.extend(now, sent[c.first], false) {
				t.Error("the lease ended")
			}
			wantLeft(t, l, now, c.between-3*time.Second)
			if !l.extend(now, sent[c.second], false) {
				t.Error("the lease ended")
			}
			wantLeft(t, l, now, c.end-3*time.Second)

			// A refresh that overlaps with no other is not limited by any.
			l.begin(now, longer)
			l.extend(now, now, false)
			wantLeft(t, l, now, longer)
		})
	}
}

// Refresh b fails after it was sent. Redis may still apply it last.
func TestFailedRefreshCountsForThoseItOverlaps(t *testing.T) {
	l := leased()
	l.begin(after(1*time.Second), 30*time.Second)
	l.begin(after(2*time.Second), 12*time.Second)
	l.abandon()
	l.extend(after(3*time.Second), after(1*time.Second), false)
	wantLeft(t, l, after(3*time.Second), 10*time.Second)
}

func TestGivenUpLease(t *testing.T) {
	l := leased()
	if !l.giveUp(after(9 * time.Second)) {
		t.Error("the lock cannot have run out yet")
	}
	wantLeft(t, l, after(9*time.Second), 0)
	if l.extend(after(9*time.Second), after(9*time.Second), false) {
		t.Error("a refresh under way brought it back")
	}
	if l.giveUp(after(10 * time.Second)) {
		t.Error("the lock may have run out")
	}
	l = leased()
	l.lose()
	if l.giveUp(after(time.Second)) {
		t.Error("Redis has said that it is gone")
	}
}

// What one refresh has seen is not undone by a later reply to one that overlapped it.
func TestReleaseRequestStaysWithTheLease(t *testing.T) {
	l := leased()
	l.begin(after(time.Second), 10*time.Second)
	l.begin(after(2*time.Second), 10*time.Second)
	l.extend(after(3*time.Second), after(2*time.Second), true)
	l.extend(after(3*time.Second), after(time.Second), false)
	if !l.releaseRequested() {
		t.Error("the request is forgotten")
	}
}

func TestA3_RemainingCountsFromTheSend(t *testing.T) {
	const ttl = 1500 * time.Millisecond
	e := onSharedServer(t)
	proxy, client := e.proxied()
	lock, err := client.Obtain(t.Context(), e.key, ttl, nil)
	e.must(err)
	proxy.Delay(ttl * 8 / 10)
	e.must(lock.Refresh(t.Context(), ttl, nil))
	if left := lock.Remaining(); left > ttl*2/10 || left <= 0 {
		t.Errorf("Remaining = %v, want at most %v", left, ttl*2/10)
	}
	proxy.Delay(0)
	e.must(lock.Refresh(t.Context(), ttl, nil))
	proxy.Delay(ttl * 12 / 10)
	if err := lock.Refresh(t.Context(), ttl, nil); err != ErrNotObtained {
		t.Errorf("Refresh: %v, want ErrNotObtained for a late success", err)
	}
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
}

func TestA3_ObtainThatTookLong(t *testing.T) {
	const ttl = time.Second
	e := onSharedServer(t)
	proxy, client := e.proxied()
	proxy.Delay(ttl * 12 / 10)
	lock, err := client.Obtain(t.Context(), e.key, ttl, nil)
	e.must(err)
	if left := lock.Remaining(); left > 0 {
		t.Errorf("Remaining = %v", left)
	}
}

func TestRemainingFromManyGoroutines(t *testing.T) {
	e := onSharedServer(t)
	lock := e.obtain(long, nil)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 20 {
				if err := lock.Refresh(t.Context(), long, nil); err != nil || lock.Remaining() <= 0 {
					t.Errorf("%v, Remaining = %v", err, lock.Remaining())
				}
				if ttl, err := lock.TTL(t.Context()); err != nil || ttl <= 0 {
					t.Errorf("TTL = %v, %v", ttl, err)
				}
			}
		})
	}
	all.Wait()
}
