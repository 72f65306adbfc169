//go:build unix

package e2e

import (
	"encoding/json"
	"os"
	"time"
)

// candidateVariable turns the test binary into a candidate. settingsVariable holds its
// settings.
const (
	candidateVariable = "REDISLEADER_E2E_CANDIDATE"
	settingsVariable  = "REDISLEADER_E2E_SETTINGS"
)

// settings are what a candidate is told when it starts.
type settings struct {
	Redis    string // address of the server that it competes on, or of a proxy to it
	topology        // takes the place of Redis if it is set
	Resource string // address of the server that holds the guarded resource
	Prefix   string // leader.Config.KeyPrefix
	Name     string // leader.Config.Name; default electionName
	Identity string
	Lease    time.Duration
	Electors int // how many compete in the process; default 1

	HangingReads bool // reads of the client ignore their contexts

	WriteEvery time.Duration // pause between two writes of the work; 0: the work does not write
	EndCheck   endCheck
	Drain      time.Duration // how long the work takes to return after it has seen its end
	LateWrites int           // writes still in a queue when the work returns
	LateAfter  time.Duration // how long the queue is stuck before it sends them
}

// endCheck is how a worker finds out, before each write, that its term is over.
type endCheck string

const (
	checkDone endCheck = ""     // by ctx.Done(), which closes when a timer fires
	checkErr  endCheck = "err"  // by ctx.Err()
	checkTerm endCheck = "term" // by Term.Check()
)

// environ is the environment of a candidate process.
func (s settings) environ() ([]string, error) {
	text, err := json.Marshal(s)
	return append(os.Environ(), candidateVariable+"=1", settingsVariable+"="+string(text)), err
}

// readSettings reads the settings in the candidate.
func readSettings() (s settings, err error) {
	err = json.Unmarshal([]byte(os.Getenv(settingsVariable)), &s)
	return s, err
}
