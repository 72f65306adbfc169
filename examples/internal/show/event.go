package show

import (
	"encoding/json"
	"time"
)

// Messages of a replica's structured log by which a Cast follows the terms. Both come
// with "fence".
const (
	MsgWorkStarted = "Work started"
	MsgWorkStopped = "Work stopped" // with "cause"
)

// Event is a line of a replica's structured log: all that a demo knows of a replica
// from the inside.
type Event struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	Fence   int64     `json:"fence"`
	Detail  string    `json:"detail"`
	Cause   string    `json:"cause"`
	Error   string    `json:"error"`
	Err     string    `json:"err"` // what logr calls it
}

// ParseEvent reports false for a line that is not a log record, such as the trace of a
// panic.
func ParseEvent(line []byte) (Event, bool) {
	var e Event
	err := json.Unmarshal(line, &e)
	return e, err == nil && e.Message != ""
}
