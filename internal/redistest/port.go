package redistest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are chosen from below the ranges that Linux (from 32768), macOS and Windows
// (from 49152) give to outgoing connections. A client could get a port of such a range
// for its own end while a server is down between Kill and Restart, and the clients that
// keep dialling that server are the likeliest to.
const (
	firstPort = 15000
	lastPort  = 22000
)

// busOffset is the distance from a server's port to the port of its cluster bus. Later
// versions can be told another port, but Redis 6.2 cannot.
const busOffset = 10000

// portTries is how many ports a server tries before it gives up.
const portTries = 100

// errPortTaken says that another process has a port that the server needs.
var errPortTaken = errors.New("port is taken")

// randomPort is a port for a server. Another process may have it.
func randomPort() int {
	return firstPort + rand.IntN(lastPort-firstPort)
}

// portsFree returns errPortTaken if another process has a port that the server needs.
func (s *Server) portsFree() error {
	ports := []int{s.port}
	if s.config.value("--cluster-enabled") == "yes" {
		ports = append(ports, s.port+busOffset)
	}
	for _, port := range ports {
		listener, err := net.Listen("tcp", loopback(port))
		if err != nil {
			return fmt.Errorf("%w: %w", errPortTaken, err)
		}
		_ = listener.Close()
	}
	return nil
}

// loopback is the address of a port on this machine.
func loopback(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
