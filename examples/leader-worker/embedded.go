package main

import (
	"fmt"

	"github.com/alicebob/miniredis/v2"
)

// embeddedRedis is a Redis for those who have none at hand. It keeps the demo free of set-up; it is not meant for anything else.
type embeddedRedis struct{ *miniredis.Miniredis }

// startEmbedded starts it on a free port of the loopback interface.
func startEmbedded() (embeddedRedis, error) {
	server := miniredis.NewMiniRedis()
	server.ClockTTL(true) // otherwise its clock stands still, and no lease ever runs out
	if err := server.StartAddr("127.0.0.1:0"); err != nil {
		return embeddedRedis{}, fmt.Errorf("embedded Redis: %w", err)
	}
	return embeddedRedis{server}, nil
}

func (e embeddedRedis) url() string { return "redis://" + e.Addr() + "/0" }
