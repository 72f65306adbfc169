package leader

import (
	"slices"
	"sync"
)

// guardedResource rejects fencing tokens lower than the highest it has seen.
type guardedResource struct {
	mu       sync.Mutex
	highest  int64
	accepted []string // who wrote
}

// write reports whether the resource accepted.
func (g *guardedResource) write(who string, fence int64) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if fence < g.highest {
		return false
	}
	g.highest = fence
	g.accepted = append(g.accepted, who)
	return true
}

// writers are those whose writes were accepted, each run of writes once.
func (g *guardedResource) writers() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Compact(slices.Clone(g.accepted))
}
