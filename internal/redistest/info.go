package redistest

import (
	"context"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// info asks the server for INFO, on a connection that it then closes.
func (s *Server) info(ctx context.Context) (string, error) {
	client := redis.NewClient(s.probeOptions())
	defer func() { _ = client.Close() }()
	return client.Info(ctx).Result()
}

// probeOptions are for a client with all rights that asks once and sends nothing else.
func (s *Server) probeOptions() *redis.Options {
	options := s.adminOptions()
	options.Protocol = 2
	options.PoolSize = 1
	options.MaxRetries = -1
	options.DialerRetries = 1
	options.DisableIdentity = true
	options.MaintNotificationsConfig = &maintnotifications.Config{
		Mode: maintnotifications.ModeDisabled,
	}
	return options
}

// checkInfo returns an error unless a reply to INFO has every wanted line.
func checkInfo(info string, wanted ...string) error {
	lines := "\n" + info
	for _, line := range wanted {
		if !strings.Contains(lines, "\n"+line+"\r\n") {
			return fmt.Errorf("no %q in\n%s", line, info)
		}
	}
	return nil
}

// infoValue returns the value of a field of a reply to INFO, or "" if it is absent.
func infoValue(info, field string) string {
	_, rest, _ := strings.Cut("\n"+info, "\n"+field+":")
	value, _, _ := strings.Cut(rest, "\r\n")
	return value
}

// infoVersion returns the name and version of the software that sent a reply to INFO.
// The redis_version of Valkey is the version of Redis that it is compatible with.
func infoVersion(info string) string {
	if version := infoValue(info, "valkey_version"); version != "" {
		return "Valkey " + version
	}
	return "Redis " + infoValue(info, "redis_version")
}
