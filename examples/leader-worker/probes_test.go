package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// A replica that does not lead, and has no Redis: it is healthy, and ready until it is
// asked to stop.
func TestProbesOfAFollower(t *testing.T) {
	client := redis.NewClient(&redis.Options{Addr: "127.0.0.1:1"})
	defer func() { _ = client.Close() }()
	elector, err := leader.New(redislock.New(client), leader.Config{
		Name:      "probed",
		Callbacks: leader.Callbacks{OnStartedLeading: func(context.Context, leader.Term) {}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	handler := routes(ctx, elector, prometheus.NewRegistry())
	expect := func(path, accept string, code int, want string) {
		t.Helper()
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.Header.Set("Accept", accept)
		reply := httptest.NewRecorder()
		handler.ServeHTTP(reply, request)
		if reply.Code != code || !strings.Contains(reply.Body.String(), want) {
			t.Errorf("%s for %q: %d %q, want %d %q", path, accept, reply.Code, reply.Body, code, want)
		}
	}
	expect("/healthz", "*/*", http.StatusOK, "ok")
	expect("/readyz", "*/*", http.StatusOK, "ok")
	expect("/metrics", "*/*", http.StatusOK, "")
	expect("/leader", "*/*", http.StatusServiceUnavailable, `"state":"stopped"`)
	expect("/leader", "text/html", http.StatusServiceUnavailable, "<title>Nobody is known to lead probed</title>")
	expect("/", "*/*", http.StatusOK, `"state":"stopped"`)
	expect("/", "text/html", http.StatusOK, "<title>Nobody is known to lead probed</title>")
	expect("/elsewhere", "*/*", http.StatusNotFound, "")
	stop()
	expect("/readyz", "*/*", http.StatusServiceUnavailable, "shutting down")
	expect("/healthz", "*/*", http.StatusOK, "ok")
}
