package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"

	"github.com/redisleader/redisleader/examples/internal/show"
)

// child is a replica, and where to ask it.
type child struct {
	*show.Child
	address atomic.Pointer[string] // of its probes, once known
}

// get asks a replica for one of its endpoints, as a platform or an operator would.
func (c *child) get(ctx context.Context, path string) (*http.Response, error) {
	address := c.address.Load()
	if address == nil {
		return nil, errors.New("not yet started")
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+*address+path, nil)
	if err != nil {
		return nil, err
	}
	return inspector.Do(request)
}

// inspector keeps no connection, so that a replica that is asked once does not wait for
// another request.
var inspector = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}

// ready reports whether the replica is ready for requests.
func (c *child) ready(ctx context.Context) bool {
	response, err := c.get(ctx, "/readyz")
	if err != nil {
		return false
	}
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}

// view is what a replica knows about the election.
type view struct {
	State  string `json:"state"`
	Leader string `json:"leader"`
	Fence  string `json:"fenceToken"`
}

func (c *child) view(ctx context.Context) (view, error) {
	response, err := c.get(ctx, "/leader")
	if err != nil {
		return view{}, err
	}
	defer func() { _ = response.Body.Close() }()
	var views []view
	if err := json.NewDecoder(response.Body).Decode(&views); err != nil {
		return view{}, err
	}
	if len(views) != 1 {
		return view{}, fmt.Errorf("/leader of %s lists %d electors", c, len(views))
	}
	return views[0], nil
}
