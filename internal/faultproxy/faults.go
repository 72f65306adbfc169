package faultproxy

import "time"

// Delay delivers each reply d after it has arrived from the server, in order. The delay
// of each reply starts when it arrives, so the replies to a pipeline are not delayed by
// more than d in total. A change also applies to replies that are waiting; 0 ends the
// delay.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
	for l := range p.links {
		l.notify()
	}
}

// Hole loses all commands and replies, like a black hole in the network. Connections
// stay open, even if the server closes its side, and new ones are accepted. Commands are
// still recorded. Nothing lost is sent later: Heal cuts the connections that lost
// something.
func (p *Proxy) Hole() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.holed = true
	for l := range p.links {
		l.lostReply = l.lostReply || len(l.queue) > 0
		l.queue = nil
	}
}

// NoReply lets the server apply each of the next n script calls (EVALSHA or EVAL), but
// loses the reply: when it arrives at the proxy, the proxy drops it and cuts the
// connection. An EVALSHA that the server answers with NOSCRIPT did nothing; that reply
// is delivered and does not count. A new NoReply replaces an earlier one; 0 ends it.
func (p *Proxy) NoReply(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.noReply = n
}

// OnCommand lets rule decide what happens to each command; nil ends that. The proxy
// records the command, asks the rule, and then forwards the command or not. It does not
// ask while the connection loses every command anyway (Hole, Swallow).
//
// Calls of rule run one at a time, on the goroutine of the connection that the command
// came from. They may call the methods of the Proxy. While one runs, no other command
// passes, so it must return before the test ends.
func (p *Proxy) OnCommand(rule func(Command) Action) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.rule = rule
}

// Cut closes all current connections; clients get a reset. New connections are accepted.
func (p *Proxy) Cut() {
	for _, l := range p.pick(func(*link) bool { return true }) {
		l.cut()
	}
}

// Refuse stops listening and cuts all connections. Dials are refused.
func (p *Proxy) Refuse() {
	p.listenMu.Lock()
	defer p.listenMu.Unlock()
	p.stopListening()
	p.Cut()
}

// Heal ends all faults and the rule, and cuts the connections that have lost something.
// After Refuse it listens on the same port again, and fails the test if it cannot.
func (p *Proxy) Heal() {
	p.tb.Helper()
	p.listenMu.Lock()
	defer p.listenMu.Unlock()
	p.reset()
	for _, l := range p.pick(func(l *link) bool { return l.lostCommand || l.lostReply }) {
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

// reset ends all faults. Links that have lost something stay marked, so that nothing
// passes on them until they are cut.
func (p *Proxy) reset() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay, p.holed, p.noReply, p.rule = 0, false, 0, nil
	p.epoch++
	for l := range p.links {
		l.notify()
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

// askRule returns what the current rule says about a command.
func (p *Proxy) askRule(command Command) Action {
	p.ruleMu.Lock()
	defer p.ruleMu.Unlock()
	p.mu.Lock()
	rule := p.rule
	p.mu.Unlock()
	if rule == nil {
		return Pass
	}
	return rule(command)
}

// expect returns the call for a command that is about to be forwarded, and counts it for
// NoReply if that applies. The caller holds mu.
func (p *Proxy) expect(command Command, action Action) *call {
	c := &call{command: command, cutAfter: action == CutAfter, epoch: p.epoch}
	if command.IsScript() && !c.cutAfter && p.noReply > 0 {
		p.noReply--
		c.counted = true
	}
	return c
}

// drops reports whether the reply to a call is to be dropped. The caller holds mu.
func (p *Proxy) drops(c *call, frame []byte) bool {
	switch {
	case c.epoch != p.epoch:
		return false
	case c.counted && isNoScript(frame):
		p.noReply++ // it did nothing, so the next call counts in its place
		return false
	}
	return c.counted || c.cutAfter
}
