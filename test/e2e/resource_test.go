//go:build unix

package e2e

import (
	"context"
	_ "embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

//go:embed resource.lua
var resourceSource string

var resourceScript = redis.NewScript(resourceSource)

// resource is what a leader's work writes to: a register that rejects tokens lower than
// the highest it has seen, and a control that accepts everything. Both are on a Redis
// server of their own, which stands for any store that can compare and write in one
// step.
type resource struct{ client *redis.Client }

const (
	highestKey  = "highest"
	registerKey = "register"
	controlKey  = "control"
)

// write writes a value to both and reports whether the register has accepted it.
func (r resource) write(ctx context.Context, token int64, value string) (bool, error) {
	keys := []string{highestKey, registerKey, controlKey}
	return resourceScript.Run(ctx, r.client, keys, token, value).Bool()
}

// register returns what the register has accepted, in order.
func (r resource) register(ctx context.Context) ([]entry, error) { return r.entries(ctx, registerKey) }

// control returns everything that was written, in order.
func (r resource) control(ctx context.Context) ([]entry, error) { return r.entries(ctx, controlKey) }

func (r resource) entries(ctx context.Context, key string) ([]entry, error) {
	lines, err := r.client.LRange(ctx, key, 0, -1).Result()
	if err != nil {
		return nil, err
	}
	entries := make([]entry, len(lines))
	for i, line := range lines {
		token, value, _ := strings.Cut(line, " ")
		entries[i].value = value
		if entries[i].token, err = strconv.ParseInt(token, 10, 64); err != nil {
			return nil, fmt.Errorf("entry %d: %w", i, err)
		}
	}
	return entries, nil
}
