package main

import (
	"bytes"
	"net"
	"strconv"
	"sync/atomic"
)

// meter counts commands on their way to the server. Commands that scripts call there are
// not among them.
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

// requestCounter counts the commands in a stream of requests. Each is an array of bulk
// strings, and the pieces of the stream may end anywhere.
type requestCounter struct {
	header  []byte // the part of a header line that has arrived
	payload int    // bytes of a bulk string that are missing, including its line end
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

// line handles a complete line: the header of a command or of one of its strings.
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
