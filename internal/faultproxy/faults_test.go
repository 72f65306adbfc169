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
func (e *environment) run() (int, error) {
	ctx, cancel := context.WithTimeout(e.Context(), timeout)
	defer cancel()
	return increment.Run(ctx, e.client, []string{"n"}).Int()
}

func TestDelay(t *testing.T) {
	const delay = 100 * time.Millisecond
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.Delay(delay)
	begin := time.Now()
	e.works()
	if took := time.Since(begin); took < delay {
		t.Errorf("answered after %v, want at least %v", took, delay)
	}
	e.proxy.Heal()
	e.works()
}

func TestDelaysDoNotAddUp(t *testing.T) {
	const delay, count = 200 * time.Millisecond, 50
	e := newEnvironment(t)
	ping := func() {
		_, err := e.client.Pipelined(t.Context(), func(p redis.Pipeliner) error {
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
	e.proxy.Delay(delay)
	begin := time.Now()
	ping()
	if took := time.Since(begin); took < delay || took > count*delay/2 {
		t.Errorf("%d commands took %v, want little more than %v", count, took, delay)
	}
}

func TestEndOfDelayDeliversWhatIsUnderWay(t *testing.T) {
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.ResetCommands()
	e.proxy.Delay(time.Hour)
	answer := make(chan error)
	go func() { answer <- e.ping(timeout) }()
	e.eventually("the command", func() bool { return len(e.proxy.Commands()) == 1 })
	e.proxy.Delay(0)
	if err := <-answer; err != nil {
		t.Error(err)
	}
}

func TestHoleSwallowsBothWays(t *testing.T) {
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.Hole()
	e.proxy.ResetCommands()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := e.client.Incr(ctx, "n").Err(); !isTimeout(err) {
		t.Errorf("INCR in a hole: %v, want a timeout", err)
	}
	if got := e.sent("INCR"); len(got) != 1 || got[0].Forwarded {
		t.Errorf("commands = %+v, want one that was not forwarded", got)
	}
	e.proxy.Heal()
	e.works()
	if got := e.counter(); got != 0 {
		t.Errorf("the command was applied %d times", got)
	}
}

// queued is the number of replies that have arrived and wait for their delay.
func (e *environment) queued() int {
	e.proxy.mu.Lock()
	defer e.proxy.mu.Unlock()
	n := 0
	for l := range e.proxy.links {
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
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.Delay(time.Hour)
	answer := make(chan error)
	go func() { answer <- e.client.Incr(t.Context(), "n").Err() }()
	e.eventually("the reply", func() bool { return e.queued() == 1 })
	e.proxy.Hole()
	e.proxy.Heal()
	if err := <-answer; err == nil {
		t.Error("a reply that fell into the hole was delivered")
	}
	if got := e.counter(); got != 1 {
		t.Errorf("applied %d times, want 1", got)
	}
}

func TestHoleAcceptsAndHealCuts(t *testing.T) {
	e := newEnvironment(t)
	e.proxy.Hole()
	conn, err := net.Dial("tcp", e.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if _, err := conn.Write([]byte("*1\r\n$4\r\nPING\r\n")); err != nil {
		t.Fatal(err)
	}
	e.eventually("the command", func() bool { return len(e.sent("PING")) == 1 })
	if got := e.proxy.Conns(); got != 1 {
		t.Errorf("Conns = %d, want 1", got)
	}
	e.proxy.Heal()
	if n, err := conn.Read(make([]byte, 10)); err == nil {
		t.Errorf("read %d bytes, want a cut", n)
	}
}

func TestHoleSparesIdleConnections(t *testing.T) {
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.Hole()
	e.proxy.Heal()
	e.works()
	commands := e.proxy.Commands()
	if got := commands[len(commands)-1].Conn; got != 1 {
		t.Errorf("connection %d after the hole, want the first", got)
	}
}

func TestHoleHidesTheEndOfTheServer(t *testing.T) {
	e := newEnvironment(t)
	e.works()
	e.proxy.Hole()
	e.server.Kill()
	e.fails(50 * time.Millisecond)
	e.server.Restart()
	e.proxy.Heal()
	e.client = e.connect()
	e.works()
}

func TestNoReply(t *testing.T) {
	e := newEnvironment(t)
	if _, err := e.run(); err != nil { // NOSCRIPT, then EVAL
		t.Fatal(err)
	}
	e.proxy.NoReply(2)
	for range 2 {
		if n, err := e.run(); err == nil {
			t.Errorf("answered %d", n)
		}
	}
	if n, err := e.run(); n != 4 || err != nil {
		t.Errorf("after two unanswered calls: %d, %v, want 4", n, err)
	}
}

func TestNoReplyDoesNotCountNoScript(t *testing.T) {
	e := newEnvironment(t)
	e.proxy.NoReply(1)
	if n, err := e.run(); err == nil {
		t.Errorf("answered %d", n)
	}
	if eval := e.sent("EVAL"); len(eval) != 1 || len(e.sent("EVALSHA")) != 1 || !eval[0].IsScript() {
		t.Errorf("commands = %+v, want EVALSHA, EVAL", e.proxy.Commands())
	}
	if n, err := e.run(); n != 2 || err != nil {
		t.Errorf("then %d, %v, want 2", n, err)
	}
}

func TestNoReplyAnswersOthers(t *testing.T) {
	e := newEnvironment(t)
	e.proxy.NoReply(1)
	e.works()
	e.proxy.Heal()
	if n, err := e.run(); n != 1 || err != nil {
		t.Errorf("after Heal: %d, %v, want 1", n, err)
	}
}

func TestNoReplyIsSeenAsARetryByTheClient(t *testing.T) {
	e := newEnvironment(t)
	if _, err := e.run(); err != nil {
		t.Fatal(err)
	}
	e.client = e.connect(func(o *redis.Options) { o.MaxRetries = 3 })
	e.proxy.NoReply(1)
	if n, err := e.run(); n != 3 || err != nil {
		t.Errorf("%d, %v, want 3: applied, sent again, applied", n, err)
	}
}

func TestCutResets(t *testing.T) {
	e := newEnvironment(t)
	conn, err := net.Dial("tcp", e.proxy.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	e.eventually("the connection", func() bool { return e.proxy.Conns() == 1 })
	e.proxy.Cut()
	if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("read: %v, want a reset", err)
	}
	if got := e.proxy.Conns(); got != 0 {
		t.Errorf("Conns = %d, want 0", got)
	}
	e.works()
}

func TestRefuse(t *testing.T) {
	e := newEnvironment(t)
	e.works()
	for range 3 {
		e.proxy.Refuse()
		e.proxy.Refuse()
		if _, err := net.Dial("tcp", e.proxy.Addr()); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial: %v, want refused", err)
		}
		if got := e.proxy.Conns(); got != 0 {
			t.Errorf("Conns = %d, want 0", got)
		}
		e.proxy.Heal()
		e.client = e.connect()
		e.works()
	}
}
