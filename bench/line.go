package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

var errCut = errors.New("the line is cut")

// line is the way of one client to its server. It can be cut, which looks to both like
// the end of the other.
type line struct {
	meter *meter // counts the commands that are sent; nil: none, and nothing stands between the client and its socket

	mu    sync.Mutex
	conns []net.Conn
	down  bool
}

func (l *line) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.down {
		_ = conn.Close()
		return nil, errCut
	}
	l.conns = append(l.conns, conn)
	if l.meter != nil {
		return &meteredConn{Conn: conn, meter: l.meter}, nil
	}
	return conn, nil
}

// cut closes all connections and lets none be opened any more.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.down = true
	for _, conn := range l.conns {
		_ = conn.Close() // fails for those that the client closed
	}
	l.conns = nil
}
