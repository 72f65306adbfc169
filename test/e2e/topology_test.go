//go:build unix

package e2e

import (
	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// topology is what a candidate competes on that is more than one server. At most one of
// the addresses is set.
type topology struct {
	Sentinels []string `json:",omitempty"` // that know the server by redistest.MasterName
	Cluster   []string `json:",omitempty"` // nodes
	ReadOnly  bool     `json:",omitempty"` // of a Cluster: what can be read from replicas is, from any of them
}

// client is a client of what the candidate competes on. Apart from what it is told it
// has go-redis' defaults: a Cluster client asks but once a minute which node has which
// slot, unless redislock makes it.
func (s settings) client() redis.UniversalClient {
	switch heeds := !s.HangingReads; {
	case s.Sentinels != nil:
		return redis.NewFailoverClient(&redis.FailoverOptions{
			MasterName:            redistest.MasterName,
			SentinelAddrs:         s.Sentinels,
			ContextTimeoutEnabled: heeds,
		})
	case s.Cluster != nil:
		return redis.NewClusterClient(&redis.ClusterOptions{
			Addrs:                 s.Cluster,
			ReadOnly:              s.ReadOnly,
			RouteRandomly:         s.ReadOnly,
			ContextTimeoutEnabled: heeds,
		})
	default:
		return redis.NewClient(&redis.Options{Addr: s.Redis, ContextTimeoutEnabled: heeds})
	}
}
