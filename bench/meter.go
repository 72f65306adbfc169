package main

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// meter counts commands on their way to the server: what scripts call there is not
// among them.
type meter struct{ commands atomic.Int64 }

// meteredConn counts the commands that are written to it.
type meteredConn struct {
	net.Conn
	meter   *meter
	counter requestCounter
}

func (c *meteredConn) Write(b []byte) (int, error) {
	c.meter.commands.Add(c.counter.count(b))
	return c.Conn.Write(b)
}

// requestCounter counts the commands in a stream of requests: arrays of bulk strings,
// however they are cut into pieces.
type requestCounter struct {
	header  []byte // of a line that is not complete
	payload int    // bytes of a bulk string still to come, the line end included
}

func (r *requestCounter) count(b []byte) (commands int64) {
	for len(b) > 0 {
		if r.payload > 0 {
			n := min(r.payload, len(b))
			r.payload -= n
			b = b[n:]
			continue
		}
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			r.header = append(r.header, b...)
			return commands
		}
		commands += r.line(append(r.header, b[:end]...))
		r.header = r.header[:0]
		b = b[end+1:]
	}
	return commands
}

// line takes a complete line: the head of a command or of one of its strings.
func (r *requestCounter) line(line []byte) (commands int64) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 {
		return 0
	}
	switch line[0] {
	case '*':
		return 1
	case '$':
		n, _ := strconv.Atoi(string(line[1:]))
		r.payload = n + len("\r\n")
	}
	return 0
}
