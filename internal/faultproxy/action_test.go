package faultproxy

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// on returns a rule that applies action to the first commands of one name.
func on(name string, action Action, times int32) func(Command) Action {
	var done atomic.Int32
	return func(c Command) Action {
		if c.Name == name && done.Add(1) <= times {
			return action
		}
		return Pass
	}
}

func TestActions(t *testing.T) {
	cases := map[string]struct {
		action    Action
		applied   int
		forwarded bool
		answered  bool
	}{
		"Pass":      {Pass, 1, true, true},
		"CutBefore": {CutBefore, 0, false, false},
		"CutAfter":  {CutAfter, 1, true, false},
		"Swallow":   {Swallow, 0, false, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t, oneConnection)
			e.works()
			e.proxy.OnCommand(on("INCR", c.action, 1))
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			err := e.client.Incr(ctx, "n").Err()
			if (err == nil) != c.answered {
				t.Errorf("INCR: %v, want answered %v", err, c.answered)
			}
			if got := e.sent("INCR"); len(got) != 1 || got[0].Forwarded != c.forwarded {
				t.Errorf("commands = %+v, want one, forwarded %v", got, c.forwarded)
			}
			if got := e.counter(); got != c.applied {
				t.Errorf("applied %d times, want %d", got, c.applied)
			}
			e.proxy.Heal()
			e.works()
		})
	}
}

// One command of a pipeline is lost. Those before it are answered, and those after it
// must not get its reply.
func TestSwallowInAPipeline(t *testing.T) {
	e := newEnvironment(t, oneConnection)
	e.works()
	e.proxy.OnCommand(on("INCR", Swallow, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	replies, _ := e.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.Echo(ctx, "before")
		p.Incr(ctx, "n")
		p.Echo(ctx, "after")
		return nil
	})
	if got, err := replies[0].(*redis.StringCmd).Result(); got != "before" {
		t.Errorf("first = %q, %v", got, err)
	}
	for _, reply := range replies[1:] {
		if reply.Err() == nil {
			t.Errorf("%v was answered", reply)
		}
	}
}

func TestCutAfterSubscribe(t *testing.T) {
	for name, configure := range protocols {
		t.Run(name, func(t *testing.T) {
			e := newEnvironment(t, configure)
			e.proxy.OnCommand(on("SUBSCRIBE", CutAfter, 1))
			sub := e.client.Subscribe(t.Context(), "a")
			defer func() { _ = sub.Close() }()
			if got, err := sub.ReceiveTimeout(t.Context(), timeout); err == nil {
				t.Errorf("received %v, want a cut", got)
			}
		})
	}
}

func TestRuleMayUseTheProxy(t *testing.T) {
	e := newEnvironment(t)
	e.works()
	e.proxy.OnCommand(func(Command) Action {
		e.proxy.Refuse()
		e.proxy.Heal()
		return Pass
	})
	e.fails(timeout)
	// The client may be back before the port is open again.
	e.eventually("Heal", func() bool { return e.ping(timeout) == nil })
}

func TestBlockedRuleBlocksNoMethod(t *testing.T) {
	e := newEnvironment(t, oneConnection)
	e.works()
	entered, leave := make(chan struct{}), make(chan struct{})
	e.proxy.OnCommand(func(Command) Action {
		close(entered)
		<-leave
		return Pass
	})
	answer := make(chan error)
	go func() { answer <- e.ping(timeout) }()
	<-entered
	e.proxy.Delay(0)
	e.proxy.Commands()
	e.proxy.OnCommand(nil)
	e.proxy.Cut()
	e.proxy.Refuse()
	e.proxy.Heal()
	close(leave)
	if err := <-answer; err == nil {
		t.Error("a command passed on a connection that was cut")
	}
	e.works()
}
