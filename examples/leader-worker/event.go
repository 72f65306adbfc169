package main

import (
	"encoding/json"
	"time"
)

// event is a line of a replica's structured log: all that the demo knows of a replica
// from the inside. It understands the messages that replica.go lists.
type event struct {
	Time    time.Time `json:"time"`
	Level   string    `json:"level"`
	Message string    `json:"msg"`
	Fence   int64     `json:"fence"`
	Cause   string    `json:"cause"`
	Error   string    `json:"error"`
	Err     string    `json:"err"` // what logr calls it, and so the elector
	Address string    `json:"address"`
}

// parseEvent reports false for a line that is not a log record, such as the trace of a
// panic.
func parseEvent(line []byte) (event, bool) {
	var e event
	err := json.Unmarshal(line, &e)
	return e, err == nil && e.Message != ""
}
