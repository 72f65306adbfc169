package leaderhttp

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/redisleader/redisleader/leader"
)

// status is one elector in the JSON of StatusHandler.
type status struct {
	Name      string       `json:"name"`
	Identity  string       `json:"identity"`
	State     leader.State `json:"state"`
	Leader    string       `json:"leader"`
	Fence     string       `json:"fenceToken"` // text: some readers of JSON lose digits beyond 2^53
	Remaining float64      `json:"remainingSeconds"`
}

func newStatus(s leader.Status) status {
	shown := status{Name: s.Name, Identity: s.Identity, State: s.State, Leader: s.Leader.Identity}
	if s.Leader.Identity != "" {
		shown.Fence = strconv.FormatInt(s.Leader.FenceToken, 10)
	}
	if s.State == leader.StateLeading {
		shown.Remaining = s.LeaseRemaining.Seconds()
	}
	return shown
}

// StatusHandler serves the state of electors as a JSON array of objects with name, identity,
// state (stopped, candidate, leading or draining), leader, fenceToken (of the leader, as
// text) and remainingSeconds (of this candidate's own term, 0 if it does not lead).
//
// A client that prefers text/html to application/json, as a browser does, gets a page
// instead. It also shows what is left of the lease and the last ten terms of this
// candidate. It loads nothing from elsewhere and refreshes itself from its own address. The
// query format=json asks for JSON whatever the client prefers.
func StatusHandler(electors ...*leader.Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := make([]leader.Status, 0, len(electors))
		for _, e := range electors {
			all = append(all, e.Status())
		}
		writeStatus(w, r, http.StatusOK, all)
	})
}

// LeaderHandler is for load balancers that send requests to the leader. It answers 200 if
// this candidate leads, by the clocks at the time of the request, and 503 if it does not.
// The body is that of StatusHandler and says who leads, as far as this candidate knows. Do
// not use it as a readiness probe: a rolling update would wait for a follower to lead.
func LeaderHandler(e *leader.Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, code := e.Status(), http.StatusServiceUnavailable
		if s.State == leader.StateLeading {
			code = http.StatusOK
		}
		writeStatus(w, r, code, []leader.Status{s})
	})
}

// writeStatus writes the states of electors in the form that the client asks for. It drops
// errors of writing: the client has gone away.
func writeStatus(w http.ResponseWriter, r *http.Request, code int, all []leader.Status) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	if wantsPage(r) {
		newPage(all).write(w, code)
		return
	}
	shown := make([]status, 0, len(all))
	for _, s := range all {
		shown = append(shown, newStatus(s))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(shown)
}
