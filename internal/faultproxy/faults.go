package faultproxy

import "time"

// Delay delivers each reply d after it has arrived from the server. Order is
// kept, and as each reply counts from its own arrival, pipelined ones are not
// delayed by more than d in total. A change applies to replies under way too;
// 0 ends it.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
	for l := range p.links {
		l.nudge()
	}
}

// Hole loses all commands and replies. Connections stay open, even if the
// server closes its side, and new ones are accepted. Commands are still
// recorded. What is lost is lost for good: Heal cuts the connections concerned.
func (p *Proxy) Hole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holed = true
	for l := range p.links {
		l.mute = l.mute || len(l.queue) > 0
		l.queue = nil
	}
}

// NoReply lets each of the next n script calls (EVALSHA or EVAL) be applied
// without an answer: when its reply has arrived at the proxy it is dropped and
// the connection is cut. An EVALSHA that the server answers with NOSCRIPT did
// nothing; that reply is delivered and does not count. NoReply replaces what
// is left of an earlier one; 0 ends it.
func (p *Proxy) NoReply(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noReply = n
}

// OnCommand has rule decide about each command before it is forwarded; nil
// ends it. The rule is asked after the command is recorded, and not at all
// while the connection loses everything anyway (Hole, Swallow).
//
// Rules run one at a time, on the goroutine of the connection the command came
// from, and may call the methods of the Proxy. While one runs no other command
// passes, so it must return before the test ends.
func (p *Proxy) OnCommand(rule func(Command) Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// Cut closes all current connections, towards clients with a reset. New ones
// are accepted.
func (p *Proxy) Cut() {
	for _, l := range p.pick(func(*link) bool { return true }) {
		l.cut()
	}
}

// Refuse stops listening and cuts all connections; dials are refused.
func (p *Proxy) Refuse() {
	p.listening.Lock()
	defer p.listening.Unlock()
	p.stopListening()
	p.Cut()
}

// Heal ends all faults and the rule, and cuts those connections that have lost
// something. After Refuse it listens on the same port again; the test fails if
// that is not possible.
func (p *Proxy) Heal() {
	p.tb.Helper()
	p.listening.Lock()
	defer p.listening.Unlock()
	p.reset()
	for _, l := range p.pick(func(l *link) bool { return l.deaf || l.mute }) {
		l.cut()
	}
	if p.listener != nil || p.closed {
		return
	}
	var err error
	if p.listener, err = relisten(p.tb, p.addr, p.accept); err != nil {
		p.tb.Errorf("faultproxy: listen again: %v", err)
	}
}

// reset takes all faults back. Links that have lost something stay marked, so
// that nothing passes on them until they are cut.
func (p *Proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.holed, p.noReply, p.rule = 0, false, 0, nil
	p.epoch++
	for l := range p.links {
		l.nudge()
	}
}

// pick returns the links that match.
func (p *Proxy) pick(match func(*link) bool) []*link {
	p.mu.Lock()
	defer p.mu.Unlock()
	var picked []*link
	for l := range p.links {
		if match(l) {
			picked = append(picked, l)
		}
	}
	return picked
}

// consult asks the rule of the moment about a command.
func (p *Proxy) consult(command Command) Action {
	p.ruling.Lock()
	defer p.ruling.Unlock()
	p.mu.Lock()
	rule := p.rule
	p.mu.Unlock()
	if rule == nil {
		return Pass
	}
	return rule(command)
}

// expect returns the call of a command that is about to be forwarded, and
// charges it to NoReply where that applies. The caller holds mu.
func (p *Proxy) expect(command Command, action Action) *call {
	c := &call{command: command, cutAfter: action == CutAfter, epoch: p.epoch}
	if command.IsScript() && !c.cutAfter && p.noReply > 0 {
		p.noReply--
		c.counted = true
	}
	return c
}

// drops reports whether the reply to a call is to be dropped. The caller holds
// mu.
func (p *Proxy) drops(c *call, frame []byte) bool {
	switch {
	case c.epoch != p.epoch:
		return false
	case c.counted && isNoScript(frame):
		p.noReply++ // it did nothing, so the next one is meant
		return false
	}
	return c.counted || c.cutAfter
}
