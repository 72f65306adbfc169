//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"time"
)

// candidateVariable turns the test binary into a candidate, settingsVariable tells it
// which.
const (
	candidateVariable = "REDISLEADER_E2E_CANDIDATE"
	settingsVariable  = "REDISLEADER_E2E_SETTINGS"
)

// settings are what a candidate is told when it starts.
type settings struct {
	Redis    string // address of the server that it competes on, or of a proxy to it
	topology        // in its place
	Resource string // address of the server that the guarded resource is on
	Prefix   string // leader.Config.KeyPrefix
	Name     string // leader.Config.Name; electionName if it is empty
	Identity string
	Lease    time.Duration
	Electors int // how many compete in the process; 0 is one

	HangingReads bool // the client's reads do not heed contexts

	WriteEvery time.Duration // pause between two writes of the work; 0: the work does not write
	Look       look
	Drain      time.Duration // how long the work takes to return after it has seen its end
	LateWrites int           // writes still in a queue when the work returns
	LateAfter  time.Duration // how long the queue hangs before it goes on
}

// look is how a worker finds out, before each write, that its term is over.
type look string

const (
	lookAtDone  look = ""      // whether ctx.Done() is closed, which takes a timer to fire
	lookAtErr   look = "err"   // ctx.Err()
	lookAtCheck look = "check" // Term.Check()
)

// environment is that of a candidate process.
func (s settings) environment() ([]string, error) {
	text, err := json.Marshal(s)
	return append(os.Environ(), candidateVariable+"=1", settingsVariable+"="+string(text)), err
}

// readSettings is its counterpart in the candidate.
func readSettings() (s settings, err error) {
	err = json.Unmarshal([]byte(os.Getenv(settingsVariable)), &s)
	return s, err
}
