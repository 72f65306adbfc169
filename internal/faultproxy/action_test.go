package faultproxy

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

// on returns a rule that does action to commands of one name, as often as told.
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
			s := newScene(t, oneConnection)
			s.works()
			s.proxy.OnCommand(on("INCR", c.action, 1))
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			err := s.client.Incr(ctx, "n").Err()
			if (err == nil) != c.answered {
				t.Errorf("INCR: %v, want answered %v", err, c.answered)
			}
			if got := s.sent("INCR"); len(got) != 1 || got[0].Forwarded != c.forwarded {
				t.Errorf("commands = %+v, want one, forwarded %v", got, c.forwarded)
			}
			if got := s.counter(); got != c.applied {
				t.Errorf("applied %d times, want %d", got, c.applied)
			}
			s.proxy.Heal()
			s.works()
		})
	}
}

// In a pipeline one command falls out. What came before it is answered, what
// comes after it must not get its answer.
func TestSwallowInAPipeline(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	s.proxy.OnCommand(on("INCR", Swallow, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	replies, _ := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
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
	for name, configure := range map[string]func(*redis.Options){"RESP2": resp2, "RESP3": func(*redis.Options) {}} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, configure)
			s.proxy.OnCommand(on("SUBSCRIBE", CutAfter, 1))
			sub := s.client.Subscribe(t.Context(), "a")
			defer func() { _ = sub.Close() }()
			if got, err := sub.ReceiveTimeout(t.Context(), patience); err == nil {
				t.Errorf("received %v, want a cut", got)
			}
		})
	}
}

func TestRuleMayUseTheProxy(t *testing.T) {
	s := newScene(t)
	s.works()
	s.proxy.OnCommand(func(Command) Action {
		s.proxy.Refuse()
		s.proxy.Heal()
		return Pass
	})
	s.fails(patience)
	// The client may be back before the port is open again.
	s.eventually("Heal", func() bool { return s.ping(patience) == nil })
}

func TestBlockedRuleBlocksNoMethod(t *testing.T) {
	s := newScene(t, oneConnection)
	s.works()
	entered, leave := make(chan struct{}), make(chan struct{})
	s.proxy.OnCommand(func(Command) Action {
		close(entered)
		<-leave
		return Pass
	})
	answer := make(chan error)
	go func() { answer <- s.ping(patience) }()
	<-entered
	s.proxy.Delay(0)
	s.proxy.Commands()
	s.proxy.OnCommand(nil)
	s.proxy.Cut()
	s.proxy.Refuse()
	s.proxy.Heal()
	close(leave)
	if err := <-answer; err == nil {
		t.Error("a command passed on a connection that was cut")
	}
	s.works()
}
