package faultproxy

import (
	"bufio"
	"context"
	"net"
	"sync"
	"time"
)

// link is one client connection and, once there has been something to forward, its
// connection to the server. serve owns its goroutines, which end when the link is cut.
type link struct {
	proxy  *Proxy
	id     int
	client *net.TCPConn
	ctx    context.Context // done once the link is cut
	cancel context.CancelFunc
	wake   chan struct{} // of size 1: tells deliver to look again

	// Guarded by proxy.mu, because faults and links change together.
	upstream    net.Conn // set once, by requests
	calls       []*call  // forwarded and not answered, in order
	queue       []reply  // arrived and not delivered, in order
	subscribed  bool     // a subscription has been forwarded
	lostCommand bool     // a command was lost, so no later one may pass
	lostReply   bool     // a reply was lost, so no later one may pass
}

// newLink returns the link for an accepted connection.
func newLink(p *Proxy, id int, client *net.TCPConn) *link {
	l := &link{proxy: p, id: id, client: client, wake: make(chan struct{}, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// serve runs the link until it is cut or either side closes.
func (l *link) serve() {
	var joined sync.WaitGroup
	joined.Go(l.deliver)
	l.requests(&joined)
	l.cut()
	joined.Wait()
}

// cut closes both sides. The client gets a reset, which it notices even if it is not
// reading. Nothing is forwarded afterwards.
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

// requests reads commands from the client until the client or the server closes.
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

// handle applies the faults and the rule to one command and reports whether the link
// continues.
func (l *link) handle(command *Command, frame []byte, joined *sync.WaitGroup) bool {
	if !l.record(command) {
		return true
	}
	action := l.proxy.askRule(*command)
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

// record records the command and reports whether it is still to be forwarded. If not, it
// is lost.
func (l *link) record(command *Command) bool {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	l.proxy.commands = append(l.proxy.commands, command)
	l.lostCommand = l.lostCommand || l.proxy.holed
	return !l.lostCommand
}

// admit makes the final decision about a command, because the faults may have changed
// while the rule was asked. If the command passes, admit registers the call.
func (l *link) admit(command *Command, action Action) Action {
	l.proxy.mu.Lock()
	defer l.proxy.mu.Unlock()
	switch {
	case action == CutBefore || l.ctx.Err() != nil:
		return CutBefore
	case action == Swallow || l.proxy.holed:
		l.lostCommand = true
		return Swallow
	}
	command.Forwarded = true
	l.subscribed = l.subscribed || command.isSubscription()
	l.calls = append(l.calls, l.proxy.expect(*command, action))
	return action
}

// connect dials the server, unless it has done so before, and starts to read replies. It
// dials this late so that a connection can be accepted in a hole.
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
	if l.ctx.Err() != nil { // cut has run and did not see this connection
		_ = upstream.Close()
		return false
	}
	joined.Go(l.replies)
	return true
}
