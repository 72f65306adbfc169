package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// storeTimeout bounds each call: together with RenewDeadline it has to stay below
// LeaseDuration, so that the last write of a term is over before another leader can
// start.
const storeTimeout = 300 * time.Millisecond

// errFenced says that the resource has accepted a write of a later term.
var errFenced = errors.New("fence token is too low")

// store is the client of the guarded resource. Each call carries the fencing token of
// the term it is made for.
type store struct {
	url    string
	client *http.Client
}

func newStore(url string) *store {
	return &store{
		url: strings.TrimSuffix(url, "/"),
		// A transport of its own, so that no proxy set in the environment gets between.
		client: &http.Client{Timeout: storeTimeout, Transport: &http.Transport{}},
	}
}

// read returns the number in the resource.
func (s *store) read(ctx context.Context, fence int64) (int64, error) {
	return s.number(ctx, valuePath, fence)
}

// write replaces it. The error matches errFenced if the token is lower than the highest
// that was accepted.
func (s *store) write(ctx context.Context, fence, value int64) error {
	_, err := s.do(ctx, http.MethodPut, valuePath, fence, strconv.FormatInt(value, 10))
	return err
}

// highestFence returns the highest token that was accepted, 0 if none: what
// leader.Config.FenceFloor asks for.
func (s *store) highestFence(ctx context.Context) (int64, error) {
	return s.number(ctx, fencePath, 0)
}

func (s *store) number(ctx context.Context, path string, fence int64) (int64, error) {
	text, err := s.do(ctx, http.MethodGet, path, fence, "")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

func (s *store) do(ctx context.Context, method, path string, fence int64, body string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, method, s.url+path, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set(fenceHeader, strconv.FormatInt(fence, 10))
	response, err := s.client.Do(request)
	if err != nil {
		return "", err
	}
	defer func() { _ = response.Body.Close() }()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(text)), statusError(response.StatusCode, text)
}

func statusError(status int, text []byte) error {
	switch {
	case status == http.StatusConflict:
		return fmt.Errorf("%w: %s", errFenced, strings.TrimSpace(string(text)))
	case status >= http.StatusBadRequest:
		return fmt.Errorf("resource: %s: %s", http.StatusText(status), strings.TrimSpace(string(text)))
	default:
		return nil
	}
}
