package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redisleader/redisleader/leader"
)

// probes is the HTTP server that the platform and people look at.
type probes struct {
	address string
	server  *http.Server
	ended   chan struct{}
}

// serveProbes listens at address, which may have port 0, and serves in the background
// until close.
func serveProbes(address string, handler http.Handler) (*probes, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-listen %q: %w", address, err)
	}
	p := &probes{
		address: listener.Addr().String(),
		server:  &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second},
		ended:   make(chan struct{}),
	}
	go func() { // joined by close
		defer close(p.ended)
		_ = p.server.Serve(listener) // it ends when it is closed
	}()
	return p, nil
}

func (p *probes) close() {
	_ = p.server.Close()
	<-p.ended
}

// routes are the endpoints of a replica. ctx is the one that ends when the replica is
// asked to stop.
func routes(ctx context.Context, elector *leader.Elector, registry *prometheus.Registry) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{Registry: registry}))
	mux.Handle("GET /healthz", leader.HealthzHandler(unhealthyAfter, elector))
	mux.Handle("GET /readyz", readyz(ctx))
	mux.Handle("GET /leader", leader.LeaderHandler(elector)) // for a load balancer
	mux.Handle("GET /{$}", leader.StatusHandler(elector))    // for people
	return mux
}

// readyz has nothing to do with leading. A follower is ready: it serves requests, and
// takes over at any moment. If it were not, a rolling update would wait for it to lead,
// which it cannot before the old leader is gone.
func readyz(ctx context.Context) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if ctx.Err() != nil {
			http.Error(w, "shutting down", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}
