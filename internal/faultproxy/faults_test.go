package faultproxy

import (
	"context"
	"errors"
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// increment is a script whose runs can be counted.
var increment = redis.NewScript(`return redis.call('INCR', KEYS[1])`)

// run runs the script through the proxy.
func (s *scene) run() (int, error) {
	ctx, cancel := context.WithTimeout(s.Context(), patience)
	defer cancel()
	return increment.Run(ctx, s.client, []string{"n"}).Int()
}

func TestDelay(t *testing.T) {
	const delay = 100 * time.Millisecond
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.Delay(delay)
	begin := time.Now()
	s.works()
	if took := time.Since(begin); took < delay {
		t.Errorf("answered after %v, want at least %v", took, delay)
	}
	s.proxy.Heal()
	s.works()
}

func TestDelaysDoNotAddUp(t *testing.T) {
	const delay, count = 200 * time.Millisecond, 50
	s := newScene(t)
	ping := func() {
		_, err := s.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
			for range count {
				p.Ping(t.Context())
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	ping() // go-redis has connections of their own for pipelines
	s.proxy.Delay(delay)
	begin := time.Now()
	ping()
	if took := time.Since(begin); took < delay || took > count*delay/2 {
		t.Errorf("%d commands took %v, want little more than %v", count, took, delay)
	}
}

func TestEndOfDelayDeliversWhatIsUnderWay(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.ResetCommands()
	s.proxy.Delay(time.Hour)
	answer := make(chan error)
	go func() { answer <- s.ping(patience) }()
	s.eventually("the command", func() bool { return len(s.proxy.Commands()) == 1 })
	s.proxy.Delay(0)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

func TestHoleSwallowsBothWays(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.Hole()
	s.proxy.ResetCommands()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.client.Incr(ctx, "n").Err(); !isTimeout(err) {
		t.Errorf("INCR in a hole: %v, want a timeout", err)
	}
	if got := s.sent("INCR"); len(got) != 1 || got[0].Forwarded {
		t.Errorf("commands = %+v, want one that was not forwarded", got)
	}
	s.proxy.Heal()
	s.works()
	if got := s.counter(); got != 0 {
		t.Errorf("the command was applied %d times", got)
	}
}

// queued is the number of replies that have arrived and wait for their delay.
func (s *scene) queued() int {
	s.proxy.mu.Lock()
	defer s.proxy.mu.Unlock()
	n := 0
	for l := range s.proxy.links {
		n += len(l.queue)
	}
	return n
}

// isTimeout tells a timeout, of the context or the socket, from a cut.
func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout()
}

func TestHoleLosesRepliesUnderWay(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.Delay(time.Hour)
	answer := make(chan error)
	go func() { answer <- s.client.Incr(t.Context(), "n").Err() }()
	s.eventually("the reply", func() bool { return s.queued() == 1 })
	s.proxy.Hole()
	s.proxy.Heal()
	if err := <-answer; err == nil {
		t.Error("a reply that fell into the hole was delivered")
	}
	if got := s.counter(); got != 1 {
		t.Errorf("applied %d times, want 1", got)
	}
}

func TestHoleAcceptsAndHealCuts(t *testing.T) {
	s := newScene(t)
	s.proxy.Hole()
	conn, err := net.Dial("tcp", s.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	s.eventually("the command", func() bool { return len(s.sent("PING")) == 1 })
	if got := s.proxy.Conns(); got != 1 {
		t.Errorf("Conns = %d, want 1", got)
	}
	s.proxy.Heal()
	if n, err := conn.Read(make([]byte, 10)); err == nil {
		t.Errorf("read %d bytes, want a cut", n)
	}
}

func TestHoleSparesIdleConnections(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.Hole()
	s.proxy.Heal()
	s.works()
	commands := s.proxy.Commands()
	if got := commands[len(commands)-1].Conn; got != 1 {
		t.Errorf("connection %d after the hole, want the first", got)
	}
}

func TestHoleHidesTheEndOfTheServer(t *testing.T) {
	s := newScene(t)
	s.works()
	s.proxy.Hole()
	s.server.Kill()
	s.fails(50 * time.Millisecond)
	s.server.Restart()
	s.proxy.Heal()
	s.client = s.connect()
	s.works()
}

func TestNoReply(t *testing.T) {
	s := newScene(t)
	if _, err := s.run(); err != nil { // NOSCRIPT, then EVAL
		t.Fatal(err)
	}
	s.proxy.NoReply(2)
	for range 2 {
		if n, err := s.run(); err == nil {
			t.Errorf("answered %d", n)
		}
	}
	if n, err := s.run(); n != 4 || err != nil {
		t.Errorf("after two unanswered calls: %d, %v, want 4", n, err)
	}
}

func TestNoReplyDoesNotCountNoScript(t *testing.T) {
	s := newScene(t)
	s.proxy.NoReply(1)
	if n, err := s.run(); err == nil {
		t.Errorf("answered %d", n)
	}
	if eval := s.sent("EVAL"); len(eval) != 1 || len(s.sent("EVALSHA")) != 1 || !eval[0].IsScript() {
		t.Errorf("commands = %+v, want EVALSHA, EVAL", s.proxy.Commands())
	}
	if n, err := s.run(); n != 2 || err != nil {
		t.Errorf("then %d, %v, want 2", n, err)
	}
}

func TestNoReplyAnswersOthers(t *testing.T) {
	s := newScene(t)
	s.proxy.NoReply(1)
	s.works()
	s.proxy.Heal()
	if n, err := s.run(); n != 1 || err != nil {
		t.Errorf("after Heal: %d, %v, want 1", n, err)
	}
}

func TestNoReplyIsSeenAsARetryByTheClient(t *testing.T) {
	s := newScene(t)
	if _, err := s.run(); err != nil {
		t.Fatal(err)
	}
	s.client = s.connect(func(o *redis.Options) { o.MaxRetries = 3 })
	s.proxy.NoReply(1)
	if n, err := s.run(); n != 3 || err != nil {
		t.Errorf("%d, %v, want 3: applied, sent again, applied", n, err)
	}
}

func TestCutResets(t *testing.T) {
	s := newScene(t)
	conn, err := net.Dial("tcp", s.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	s.eventually("the connection", func() bool { return s.proxy.Conns() == 1 })
	s.proxy.Cut()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v, want a reset", err)
	}
	if got := s.proxy.Conns(); got != 0 {
		t.Errorf("Conns = %d, want 0", got)
	}
	s.works()
}

func TestRefuse(t *testing.T) {
	s := newScene(t)
	s.works()
	for range 3 {
		s.proxy.Refuse()
		s.proxy.Refuse()
		if _, err := net.Dial("tcp", s.proxy.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v, want refused", err)
		}
		if got := s.proxy.Conns(); got != 0 {
			t.Errorf("Conns = %d, want 0", got)
		}
		s.proxy.Heal()
		s.client = s.connect()
		s.works()
	}
}
