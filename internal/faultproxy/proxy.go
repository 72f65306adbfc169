package faultproxy

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy forwards connections to one server and injects faults. It belongs to
// one test.
type Proxy struct {
	tb       testing.TB
	upstream string
	addr     string
	joined   sync.WaitGroup // of the links' goroutines

	listenMu sync.Mutex // guards listener and closed; locked before mu
	listener *listener  // nil while dials are refused
	closed   bool

	ruleMu sync.Mutex // makes calls of the rule run one at a time; locked before mu

	// mu guards the rest and the state of links. It is never held during anything that
	// can block.
	mu       sync.Mutex
	links    map[*link]struct{}
	accepted int // connections so far
	commands []*Command
	delay    time.Duration
	holed    bool
	noReply  int // how many more script calls get no reply
	epoch    int // counts calls of Heal, which end the faults of calls under way
	rule     func(Command) Action
}

// Start starts a proxy to the server at upstream, a host:port, on a free loopback port.
// When the test ends, the proxy closes and waits for its goroutines.
//
// The proxy dials the server when a connection has its first command to forward. If that
// fails, it cuts the connection.
func Start(tb testing.TB, upstream string) *Proxy {
	tb.Helper()
	p := &Proxy{tb: tb, upstream: upstream, links: make(map[*link]struct{})}
	open, err := listen(tb, "127.0.0.1:0", p.accept)
	if err != nil {
		tb.Fatalf("faultproxy: %v", err)
	}
	p.listener, p.addr = open, open.Addr().String()
	tb.Cleanup(p.close)
	return p
}

// Addr is the address for clients, as host:port. It never changes.
func (p *Proxy) Addr() string {
	return p.addr
}

// Conns is the number of open client connections.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Commands returns all commands that clients have sent so far, in the order in which the
// proxy read them. They include those that were not forwarded.
func (p *Proxy) Commands() []Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	commands := make([]Command, len(p.commands))
	for i, command := range p.commands {
		commands[i] = *command
	}
	return commands
}

// ResetCommands makes Commands start again from nothing.
func (p *Proxy) ResetCommands() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = nil
}

// accept starts the link for a new connection, on the listener's goroutine.
func (p *Proxy) accept(conn *net.TCPConn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted++
	l := newLink(p, p.accepted, conn)
	p.links[l] = struct{}{}
	p.joined.Go(l.serve)
}

// close is the cleanup.
func (p *Proxy) close() {
	p.listenMu.Lock()
	p.closed = true
	p.stopListening()
	p.listenMu.Unlock()
	p.Cut()
	p.joined.Wait()
}

// stopListening closes the port if it is open. The caller holds listenMu.
func (p *Proxy) stopListening() {
	if p.listener != nil {
		p.listener.close()
		p.listener = nil
	}
}
