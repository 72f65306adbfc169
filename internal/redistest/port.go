package redistest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are drawn from below the ranges that Linux (from 32768), macOS and
// Windows (from 49152) hand to outgoing connections. A port from such a range
// could be taken by any client while a server is down between Kill and
// Restart, not least by the clients that keep dialling that very server.
const (
	firstPort = 15000
	lastPort  = 32000
)

// freePort returns a loopback port that nobody listens on. Another process may
// still take it first, so the caller has to be ready to try again.
func freePort() (int, error) {
	var lastErr error
	for range 100 {
		port := firstPort + rand.IntN(lastPort-firstPort)
		listener, err := net.Listen("tcp", loopback(port))
		if err == nil {
			return port, listener.Close()
		}
		lastErr = err
	}
	return 0, fmt.Errorf("no free port: %w", lastErr)
}

// loopback is the address of a port on this machine.
func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
