package leader

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/redisleader/redisleader/redislock"
)

// announceTo makes all watches of server hear a.
func (s *memServer) announceTo(a redislock.Announcement) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watches {
		select {
		case <-w.c:
		default:
		}
		w.c <- a
	}
}

func (s *memServer) listeners() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.watches)
}

// pair is a leader, and a follower that has just looked.
func pair(t *testing.T, server *memServer) (a, b *replica) {
	t.Helper()
	a = newReplica(t, server, "a", nil).start(t)
	await(t, 0, "a leads", a.IsLeader)
	b = newReplica(t, server, "b", nil).start(t)
	synctest.Wait()
	return a, b
}

func TestFollowerTriesAtOnceWhenTheReleaseIsAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a, b := pair(t, server)
		a.join()
		await(t, 0, "b leads", b.IsLeader)
		b.join()
	})
}

// B12: a lost announcement costs at most a RetryPeriod, with its jitter.
func TestLostAnnouncementCostsAtMostARetryPeriod(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.mute = true
		a, b := pair(t, server)
		a.join()
		if waited := await(t, b.timing.retry*6/5+time.Millisecond, "b leads", b.IsLeader); waited == 0 {
			t.Error("b heard what was lost")
		}
		b.join()
	})
}

// Announcements that are false or repeated cost attempts, or nothing; above all they do
// not put off the next look.
func TestForgedAnnouncementsDoNotPutOffTheNextLook(t *testing.T) {
	for _, kind := range []redislock.AnnouncementKind{redislock.Taken, redislock.Unavailable, redislock.Released, redislock.Subscribed} {
		t.Run(fmt.Sprint(kind), func(t *testing.T) {
			bubble(t, func(t *testing.T, server *memServer) {
				server.mute = true
				a, b := pair(t, server)
				a.join()
				limit := time.Now().Add(b.timing.retry*6/5 + time.Millisecond)
				for !b.IsLeader() && time.Now().Before(limit) {
					server.announceTo(redislock.Announcement{Kind: kind, Delay: time.Hour})
					time.Sleep(time.Millisecond)
					synctest.Wait()
				}
				if !b.IsLeader() {
					t.Error("b was kept from looking")
				}
				b.join()
			})
		})
	}
}

func TestWhoHearsThatTheLockIsTakenDoesNotTry(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		_, b := pair(t, server)
		before := server.count("obtain")
		server.announceTo(redislock.Announcement{Kind: redislock.Released, Delay: 5 * time.Millisecond})
		synctest.Wait()
		server.announceTo(redislock.Announcement{Kind: redislock.Taken})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := server.count("obtain") - before; n != 0 {
			t.Errorf("%d attempts although the lock is taken", n)
		}
		server.announceTo(redislock.Announcement{Kind: redislock.Released, Delay: 5 * time.Millisecond})
		time.Sleep(10 * time.Millisecond)
		synctest.Wait()
		if n := server.count("obtain") - before; n != 1 {
			t.Errorf("%d attempts after a release was announced, want 1", n)
		}
		b.join()
	})
}

// The release was heard: that no further announcements arrive does not make the lock
// any less free.
func TestLostConnectionLeavesASuggestedAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		server.mute = true
		a, b := pair(t, server)
		a.join()
		server.announceTo(redislock.Announcement{Kind: redislock.Released, Delay: 5 * time.Millisecond})
		synctest.Wait()
		server.announceTo(redislock.Announcement{Kind: redislock.Unavailable})
		await(t, 6*time.Millisecond, "b leads", b.IsLeader)
		b.join()
	})
}

func TestOnlyThoseWhoWaitListen(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a, b := pair(t, server)
		if n := server.listeners(); n != 1 {
			t.Errorf("%d listeners with one follower", n)
		}
		a.join()
		await(t, 0, "b leads", b.IsLeader)
		if n := server.listeners(); n != 0 {
			t.Errorf("%d listeners with a leader alone", n)
		}
		b.join()
	})
}

func TestDeniedAnnouncementsAreLoggedOnce(t *testing.T) {
	var lines journal
	e := newElector(newMemServer(), Config{Logger: lines.logger(0)}.withDefaults(), nil)
	e.silent(errors.New("connection refused"))
	e.silent(errNoPermission{})
	e.silent(errNoPermission{})
	if len(lines.all()) != 1 {
		t.Errorf("logged %q, want one line", lines.all())
	}
}

// errNoPermission is an error as the server sends it.
type errNoPermission struct{}

func (errNoPermission) Error() string { return "NOPERM no permission to subscribe" }
func (errNoPermission) RedisError()   {}
