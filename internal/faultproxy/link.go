package faultproxy

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// link is one client connection and, once there was something to forward, its
// connection to the server. serve owns its goroutines; they end when the link
// is cut.
type link struct {
	proxy  *Proxy
	id     int
	client *net.TCPConn
	ctx    context.Context // done once the link is cut
	cancel context.CancelFunc
	wake   chan struct{} // of size 1: deliver has to look again

	// Guarded by proxy.mu, as faults and links change together.
	upstream   net.Conn // set once, by requests
	calls      []*call  // forwarded and not answered, in order
	queue      []reply  // arrived and not delivered, in order
	subscribed bool     // a subscription has been forwarded
	deaf       bool     // commands were lost: no later one may pass
	mute       bool     // replies were lost: no later one may pass
}

// newLink makes the link of an accepted connection.
func newLink(p *Proxy, id int, client *net.TCPConn) *link {
	l := &link{proxy: p, id: id, client: client, wake: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// serve runs the link until it is cut or one of its sides ends.
func (l *link) serve() {
	var joined sync.WaitGroup
	joined.Go(l.deliver)
	l.requests(&joined)
	l.cut()
	joined.Wait()
}

// cut closes both sides, the client's with a reset, so that it notices even
// without reading. Nothing is forwarded afterwards.
func (l *link) cut() {
	l.proxy.mu.Lock()
	delete(l.proxy.links, l)
	l.cancel()
	upstream := l.upstream
	l.proxy.mu.Unlock()
	// Errors mean that the connections are closed already.
	_ = l.client.SetLinger(0)
	_ = l.client.Close()
	if upstream != nil {
		_ = upstream.Close()
	}
}

// requests reads commands from the client until it or the server is gone.
func (l *link) requests(joined *sync.WaitGroup) {
	r := bufio.NewReader(l.client)
	for {
		frame, err := readFrame(r)
		if err != nil {
			return
		}
		command, err := parseCommand(frame)
		if err != nil {
			return
		}
		command.At, command.Conn = time.Now(), l.id
		if !l.handle(command, frame, joined) {
			return
		}
	}
}

// handle does with one command what the faults and the rule want, and reports
// whether the link goes on.
func (l *link) handle(command *Command, frame []byte, joined *sync.WaitGroup) bool {
	if !l.record(command) {
		return true
	}
	action := l.proxy.consult(*command)
	if action != CutBefore && action != Swallow && !l.connect(joined) {
		return false
	}
	switch l.admit(command, action) {
	case CutBefore:
		return false
	case Swallow:
		return true
	}
	_, err := l.upstream.Write(frame)
	return err == nil
}

// record notes the command and reports whether it may pass so far. If not, it
// is lost.
func (l *link) record(command *Command) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.commands = append(l.proxy.commands, command)
	l.deaf = l.deaf || l.proxy.holed
	return !l.deaf
}

// admit decides about the command for good, as things may have changed while
// the rule was asked, and from a command that passes expects a reply.
func (l *link) admit(command *Command, action Action) Action {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	switch {
	case action == CutBefore || l.ctx.Err() != nil:
		return CutBefore
	case action == Swallow || l.proxy.holed:
		l.deaf = true
		return Swallow
	}
	command.Forwarded = true
	l.subscribed = l.subscribed || command.isSubscription()
	l.calls = append(l.calls, l.proxy.expect(*command, action))
	return action
}

// connect dials the server, unless that is done, and starts to read replies.
// Doing so only now keeps connections possible that are accepted in a hole.
func (l *link) connect(joined *sync.WaitGroup) bool {
	if l.upstream != nil {
		return true
	}
	upstream, err := new(net.Dialer).DialContext(l.ctx, "tcp", l.proxy.upstream)
	if err != nil {
		return false
	}
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.upstream = upstream
	if l.ctx.Err() != nil { // cut has run and did not see it
		_ = upstream.Close()
		return false
	}
	joined.Go(l.replies)
	return true
}
