package main

import (
	"context"
	"errors"
	"net"
	"sync"
)

var errCut = errors.New("the connection is cut")

// dialer opens the connections of one client to its server. It can cut them, which looks
// to each side as if the other had ended.
type dialer struct {
	// meter counts the commands that are sent. If it is nil, nothing stands between the
	// client and its socket.
	meter *meter

	mu    sync.Mutex
	conns []net.Conn
	down  bool
}

func (d *dialer) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.down {
		_ = conn.Close()
		return nil, errCut
	}
	d.conns = append(d.conns, conn)
	if d.meter != nil {
		return &meteredConn{Conn: conn, meter: d.meter}, nil
	}
	return conn, nil
}

// cut closes all connections and opens no further ones.
func (d *dialer) cut() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.down = true
	for _, conn := range d.conns {
		_ = conn.Close() // fails for those that the client has closed
	}
	d.conns = nil
}
