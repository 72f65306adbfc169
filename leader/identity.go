package leader

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
)

// defaultIdentity is hostname_pid_random: the random part tells incarnations apart
// whose host and process id are the same, as is common in containers.
func defaultIdentity() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s_%d_%s", host, os.Getpid(), rand.Text()[:8])
}

// card is what a leader writes beside its lock for the others to read.
type card struct {
	Identity string            `json:"identity"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

func (c card) encode() string {
	text, err := json.Marshal(c)
	if err != nil {
		panic(err) // strings and a map of strings always marshal
	}
	return string(text)
}

// decodeCard reads what a holder wrote. Text that is no card is an identity by itself.
func decodeCard(text string) card {
	var c card
	if err := json.Unmarshal([]byte(text), &c); err != nil || c.Identity == "" {
		return card{Identity: text}
	}
	return c
}
