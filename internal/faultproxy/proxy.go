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
	joined   sync.WaitGroup // the links' goroutines

	listening sync.Mutex // guards listener and closed; taken before mu
	listener  *listener  // nil while dials are refused
	closed    bool

	ruling sync.Mutex // makes rules run one by one; taken before mu

	mu       sync.Mutex // guards what follows and the state of links; never held while anything blocks
	links    map[*link]struct{}
	accepted int // connections so far
	commands []*Command
	delay    time.Duration
	holed    bool
	noReply  int // script calls still to go unanswered
	epoch    int // counts Heal, so that replies under way know their faults are over
	rule     func(Command) Action
}

// Start starts a proxy to the server at upstream, a host:port, on a free
// loopback port. It ends with the test; its goroutines have then ended too.
//
// The server is dialled when a connection has its first command to forward. If
// that fails the connection is cut.
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

// Addr is the address clients dial, as host:port. It never changes.
func (p *Proxy) Addr() string {
	return p.addr
}

// Conns is the number of open client connections.
func (p *Proxy) Conns() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.links)
}

// Commands returns what clients have sent so far, in the order in which it was
// read, including what was not forwarded.
func (p *Proxy) Commands() []Command {
	p.mu.Lock()
	defer p.mu.Unlock()
	commands := make([]Command, len(p.commands))
	for i, command := range p.commands {
		commands[i] = *command
	}
	return commands
}

// ResetCommands forgets the commands seen so far.
func (p *Proxy) ResetCommands() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = nil
}

// accept starts the link of a new connection. The listener's goroutine calls it.
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
	p.listening.Lock()
	p.closed = true
	p.stopListening()
	p.listening.Unlock()
	p.Cut()
	p.joined.Wait()
}

// stopListening closes the port, if it is open. The caller holds listening.
func (p *Proxy) stopListening() {
	if p.listener != nil {
		p.listener.close()
		p.listener = nil
	}
}
