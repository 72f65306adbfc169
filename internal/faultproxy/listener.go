package faultproxy

import (
	"errors"
	"net"
	"testing"
	"time"
)

const (
	relistenTimeout  = 5 * time.Second
	relistenInterval = 10 * time.Millisecond
)

// listener is an open port and the goroutine that accepts its connections.
type listener struct {
	net.Listener
	done chan struct{} // closed after the last connection has been accepted
}

// listen opens the port and passes each connection to accept, on one goroutine that
// close ends.
func listen(tb testing.TB, addr string, accept func(*net.TCPConn)) (*listener, error) {
	open, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, err
	}
	l := &listener{Listener: open, done: make(chan struct{})}
	go l.run(tb, accept) // joined by close
	return l, nil
}

// relisten opens a port that was open before. It tries for a while, because a client
// that dials the closed port may briefly have got that very port for its own end.
func relisten(tb testing.TB, addr string, accept func(*net.TCPConn)) (*listener, error) {
	for begin := time.Now(); ; time.Sleep(relistenInterval) {
		l, err := listen(tb, addr, accept)
		if err == nil || time.Since(begin) > relistenTimeout {
			return l, err
		}
	}
}

// run accepts until the port is closed.
func (l *listener) run(tb testing.TB, accept func(*net.TCPConn)) {
	defer close(l.done)
	for {
		conn, err := l.Accept()
		if err != nil {
			if !errors.Is(err, net.ErrClosed) {
				tb.Errorf("faultproxy: accept: %v", err)
			}
			return
		}
		accept(conn.(*net.TCPConn))
	}
}

// close closes the port and returns when no further connection will be accepted.
func (l *listener) close() {
	_ = l.Close()
	<-l.done
}
