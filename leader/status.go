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

// StatusHandler serves the state of electors as a JSON array of objects with name, identity, state (stopped, candidate, leading
// or draining), leader, fenceToken (of the leader, as text) and remainingSeconds (of this candidate's own term, 0 if it
// does not lead).
func StatusHandler(electors ...*Elector) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		all := make([]status, 0, len(electors))
		for _, e := range electors {
			all = append(all, e.status())
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(all) // an error is the reader's: it has gone away
	})
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
