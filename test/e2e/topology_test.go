//go:build unix

package e2e

import (
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// topology is what a candidate competes on if that is more than one server. At most one
// of the lists of addresses is set.
type topology struct {
	Sentinels []string `json:",omitempty"` // that know the server by redistest.MasterName
	Cluster   []string `json:",omitempty"` // nodes
	// ReadOnly makes a client of a Cluster send each read that a replica can answer to
	// any node.
	ReadOnly bool `json:",omitempty"`
}

// client is a client of what the candidate competes on. Except for the settings it has
// the defaults of go-redis: a Cluster client asks only once a minute which node has
// which slot, unless redislock makes it ask.
func (s settings) client() redis.UniversalClient {
	switch heedsContexts := !s.HangingReads; {
	case s.Sentinels != nil:
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName:            redistest.MasterName,
			SentinelAddrs:         s.Sentinels,
			ContextTimeoutEnabled: heedsContexts,
		})
	case s.Cluster != nil:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs:                 s.Cluster,
			ReadOnly:              s.ReadOnly,
			RouteRandomly:         s.ReadOnly,
			ContextTimeoutEnabled: heedsContexts,
		})
	default:
		return redis.NewClient(&redis.Options{Addr: s.Redis, ContextTimeoutEnabled: heedsContexts})
	}
}
