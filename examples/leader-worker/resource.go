package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The resource's interface.
const (
	valuePath   = "/value" // GET, PUT
	fencePath   = "/fence" // GET: the highest token accepted
	fenceHeader = "Fence-Token"
)

// resource serves a ledger over HTTP: the thing that must never be changed by a leader
// that has been replaced.
type resource struct {
	*ledger
	url    string
	server *http.Server
	ended  chan struct{}
}

// startResource serves the ledger at an address, which may have port 0.
func startResource(l *ledger, address string) (*resource, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("guarded resource: %w", err)
	}
	r := &resource{
		ledger: l,
		url:    "http://" + listener.Addr().String(),
		server: &http.Server{Handler: l.handler(), ReadHeaderTimeout: 5 * time.Second},
		ended:  make(chan struct{}),
	}
	go func() { // joined by close
		defer close(r.ended)
		_ = r.server.Serve(listener) // it ends when it is closed
	}()
	return r, nil
}

// close lets requests that are under way finish, so that what is read from the ledger
// afterwards is final.
func (r *resource) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if r.server.Shutdown(ctx) != nil {
		_ = r.server.Close()
	}
	<-r.ended
}

// serveResource is the program with -serve-resource.
func serveResource(ctx context.Context, address string) error {
	logged := &ledger{onReject: func(token, highest int64) { fmt.Println("rejected:", staleError{token, highest}) }}
	r, err := startResource(logged, address)
	if err != nil {
		return fmt.Errorf("-serve-resource %q: %w", address, err)
	}
	defer r.close()
	fmt.Println("guarded resource:", r.url+valuePath)
	<-ctx.Done()
	return nil
}

func (l *ledger) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+valuePath, l.serveRead)
	mux.HandleFunc("PUT "+valuePath, l.serveWrite)
	mux.HandleFunc("GET "+fencePath, func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, l.fence())
	})
	return mux
}

func (l *ledger) serveRead(w http.ResponseWriter, r *http.Request) {
	token, err := fenceToken(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, l.read(token))
}

func (l *ledger) serveWrite(w http.ResponseWriter, r *http.Request) {
	token, err := fenceToken(r)
	if err != nil { // a write without a token cannot be guarded, so it is refused
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	value, err := number(r.Body)
	if err != nil {
		http.Error(w, "body: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := l.write(token, value); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func fenceToken(r *http.Request) (int64, error) {
	token, err := strconv.ParseInt(r.Header.Get(fenceHeader), 10, 64)
	if err != nil || token <= 0 {
		return 0, fmt.Errorf("header %s: %q is not a fence token", fenceHeader, r.Header.Get(fenceHeader))
	}
	return token, nil
}

func number(body io.Reader) (int64, error) {
	const enough = 32 // digits of any int64
	text, err := io.ReadAll(io.LimitReader(body, enough))
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
}
