package redistest

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// info asks the server for INFO, on a connection that leaves no trace.
func (s *Server) info(ctx context.Context) (string, error) {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	return client.Info(ctx).Result()
}

// probeOptions are those of a client that asks once and sends no more than it
// is told to.
func (s *Server) probeOptions() *redis.Options {
	options := s.Options()
	s.users.promote(options)
	options.Protocol = 2
	options.PoolSize = 1
	options.MaxRetries = -1
	options.DialerRetries = 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}
	return options
}

// checkInfo returns an error unless each wanted line is in a reply to INFO.
func checkInfo(info string, wanted ...string) error {
	lines := "\n" + info
	for _, line := range wanted {
		if !strings.Contains(lines, "\n"+line+"\r\n") {
			return fmt.Errorf("no %q in\n%s", line, info)
		}
	}
	return nil
}

// infoValue returns the value of a field of a reply to INFO, "" if it has none.
func infoValue(info, field string) string {
	_, rest, _ := strings.Cut("\n"+info, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}
