package leader

import (
	"testing"
	"testing/synctest"
	"time"
)

// Attempts to renew overlap if a client ignores its context. Each answer counts from
// when its own attempt was sent.

func TestNewTermCountsFromTheSend(t *testing.T) {
	const slow = 150 * time.Millisecond // less than an attempt to obtain may take
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil)
		server.setFault(func(string) memFault { return memFault{after: slow} })
		a.start(t)
		await(t, slow, "a leads", a.atWork)
		if left, want := a.lastTerm().Remaining(), a.timing.deadline-slow; left != want {
			t.Errorf("Remaining = %v, want %v", left, want)
		}
		server.setFault(nil)
		a.join()
	})
}

// overlapping delays the answer to the first attempt to renew for so long that the
// second has been sent, with which second happens. It returns what remains of the term
// just after the delayed answer, and the time since the second was sent.
func overlapping(t *testing.T, server *memServer, answer time.Duration, second memFault) (a *replica, left, since time.Duration) {
	t.Helper()
	a = newReplica(t, server, "a", nil).start(t)
	await(t, 0, "a leads", a.atWork)
	var sent []time.Time
	server.setFault(func(op string) memFault {
		if op != "refresh" {
			return memFault{}
		}
		sent = append(sent, time.Now())
		if len(sent) == 1 {
			return memFault{after: answer, ignoresContext: true}
		}
		return second
	})
	time.Sleep(a.timing.renew + answer)
	synctest.Wait()
	if len(sent) != 2 {
		t.Fatalf("%d attempts when the first is answered, want 2", len(sent))
	}
	return a, a.lastTerm().Remaining(), time.Since(sent[1])
}

func TestStaleAnswerCountsFromItsOwnSend(t *testing.T) {
	const answer = 200 * time.Millisecond
	bubble(t, func(t *testing.T, server *memServer) {
		a, left, _ := overlapping(t, server, answer, memFault{before: time.Hour})
		if want := a.timing.deadline - answer; left != want {
			t.Errorf("Remaining = %v after the answer to the older of two attempts, want %v", left, want)
		}
		server.setFault(nil)
		a.join()
	})
}

func TestOvertakenAnswerAddsNothing(t *testing.T) {
	const answer = 300 * time.Millisecond
	bubble(t, func(t *testing.T, server *memServer) {
		a, left, since := overlapping(t, server, answer, memFault{})
		if want := a.timing.deadline - since; left != want {
			t.Errorf("Remaining = %v after the answers to two attempts, the newer first, want %v", left, want)
		}
		server.setFault(nil)
		a.join()
	})
}
