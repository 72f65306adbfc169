package leader

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
)

// defaultIdentity is hostname_pid_random. The random part tells incarnations apart
// whose host and process id are the same, as is common in containers.
func defaultIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s_%d_%s", host, os.Getpid(), rand.Text()[:8])
}

// leaderRecord is what a leader stores beside its lock for the others to read. The name
// is client-go's.
type leaderRecord struct {
	Identity string            `json:"identity"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

func (r leaderRecord) encode() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // strings and a map of strings always marshal
	}
	return string(text)
}

// decodeLeaderRecord reads what a holder stored. Text that is not a leader record is
// taken as an identity.
func decodeLeaderRecord(text string) leaderRecord {
	var r leaderRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil || r.Identity == "" {
		return leaderRecord{Identity: text}
	}
	return r
}
