package leader

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// status is one elector in the reply of StatusHandler.
type status struct {
	Name      string  `json:"name"`
	Identity  string  `json:"identity"`
	State     string  `json:"state"`
	Leader    string  `json:"leader"`
	Fence     string  `json:"fenceToken"` // text: numbers in JSON lose digits beyond 2^53 in some readers
	Remaining float64 `json:"remainingSeconds"`
}

// States of an elector.
const (
	stateStopped   = "stopped"   // Run is not running
	stateCandidate = "candidate" // competing
	stateLeading   = "leading"
	stateDraining  = "draining" // the term has ended, its work has not
)

// StatusHandler serves the state of electors as a JSON array of objects with name,
// identity, state (stopped, candidate, leading or draining), leader, fenceToken (of the
// leader, as text) and remainingSeconds (of this candidate's own term, 0 if it does not
// lead).
//
// To a browser, which is whoever accepts text/html rather than application/json, it
// serves the same as a page, with what is left of the lease and this candidate's last
// ten terms. With the query format=json it is JSON for everybody. The page is
// self-contained and asks again by itself, at its own address.
func StatusHandler(electors ...*Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := make([]status, 0, len(electors))
		for _, e := range electors {
			all = append(all, e.status())
		}
		writeStatus(w, r, http.StatusOK, electors, all)
	})
}

// LeaderHandler is for routing to the leader: it serves 200 if this candidate leads, by
// the clocks at the time of the request, and 503 if it does not. The body is that of
// StatusHandler, which says who leads as far as this candidate knows. Do not use it as
// a readiness probe: a rolling update would wait for a follower to lead.
func LeaderHandler(e *Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, code := e.status(), http.StatusServiceUnavailable
		if s.State == stateLeading {
			code = http.StatusOK
		}
		writeStatus(w, r, code, []*Elector{e}, []status{s})
	})
}

// writeStatus writes the states of electors in the form that the reader asks for. An
// error is the reader's: it has gone away.
func writeStatus(w http.ResponseWriter, r *http.Request, code int, electors []*Elector, all []status) {
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Vary", "Accept")
	if wantsPage(r) {
		newPage(electors, all).write(w, code)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(all)
}

func (e *Elector) status() status {
	s := status{Name: e.cfg.Name, Identity: e.cfg.Identity, State: e.state()}
	if leader, ok := e.Leader(); ok {
		s.Leader, s.Fence = leader.Identity, strconv.FormatInt(leader.FenceToken, 10)
	}
	if t, ok := e.Term(); ok {
		s.Remaining = t.Remaining().Seconds()
	}
	return s
}

func (e *Elector) state() string {
	held := e.held.Load()
	switch {
	case e.IsLeader():
		return stateLeading
	case held != nil && closed(held.work.begin):
		return stateDraining
	case e.running.Load():
		return stateCandidate
	default:
		return stateStopped
	}
}
