package redistest

import (
	"context"
	"strconv"
	"testing"
)

// Replica starts a server that replicates master. It returns when the replica has the
// master's data and the link between them is up.
func Replica(tb testing.TB, master *Server) *Server {
	tb.Helper()
	config := []string{"--replicaof", "127.0.0.1", strconv.Itoa(master.Port())}
	if password := master.adminOptions().Password; password != "" {
		config = append(config, "--masterauth", password)
	}
	replica := Start(tb, config...)
	mustAwait(tb, "the replication link", replica.linked)
	return replica
}

// linked returns nil if the server is a replica whose link is up.
func (s *Server) linked(ctx context.Context) error {
	info, err := s.info(ctx)
	if err != nil {
		return err
	}
	return checkInfo(info, "role:slave", "master_link_status:up")
}
