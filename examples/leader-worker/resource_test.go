package main

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

func startTestResource(t *testing.T) (*resource, *store) {
	t.Helper()
	r, err := startResource(&ledger{}, "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(r.url)
	t.Cleanup(func() {
		s.client.CloseIdleConnections()
		r.close()
	})
	return r, s
}

func TestResourceOverHTTP(t *testing.T) {
	t.Parallel()
	r, s := startTestResource(t)
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	const high, low = 1785430000123457, 1785430000123456 // as large as real ones
	must(s.write(ctx, low, 1))
	must(s.write(ctx, high, 2))
	if err := s.write(ctx, low, 3); !errors.Is(err, errFenced) {
		t.Errorf("write with a lower token: %v, want errFenced", err)
	}
	value, err := s.read(ctx, low)
	must(err)
	fence, err := s.highestFence(ctx)
	must(err)
	if value != 2 || fence != high {
		t.Errorf("value %d, fence %d; want 2 and %d", value, fence, int64(high))
	}
	if a := r.account(); total(a.accepted) != 2 || a.rejected[low] != 1 {
		t.Errorf("account: %+v", a)
	}
}

func TestResourceRefusesWhatItCannotGuard(t *testing.T) {
	t.Parallel()
	r, s := startTestResource(t)
	for _, c := range []struct{ token, body, message string }{
		{"", "1", `Fence-Token: ""`},
		{"abc", "1", `Fence-Token: "abc"`},
		{"0", "1", `Fence-Token: "0"`},
		{"-1", "1", `Fence-Token: "-1"`},
		{"1", "one", `body: `},
	} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPut, r.url+valuePath, strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set(fenceHeader, c.token)
		response, err := s.client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		_ = response.Write(&text)
		_ = response.Body.Close()
		if response.StatusCode != http.StatusBadRequest || !strings.Contains(text.String(), c.message) {
			t.Errorf("token %q, body %q: %s", c.token, c.body, text.String())
		}
	}
	if a := r.account(); total(a.accepted)+total(a.rejected) != 0 {
		t.Errorf("account: %+v", a)
	}
}
