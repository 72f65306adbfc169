package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// server is a redis-server that this program starts on a free port.
type server struct {
	*redistest.Server
	admin *redis.Client // for questions about the server, never for what is measured
}

// startServer starts a server that does not persist its data.
func startServer() (*server, error) {
	dir, err := os.MkdirTemp("", "redisleader-bench-")
	if err != nil {
		return nil, err
	}
	s, err := redistest.Launch(dir)
	if err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return &server{s, redis.NewClient(s.Options())}, nil
}

func (s *server) stop() {
	_ = s.admin.Close()
	s.Stop()
	_ = os.RemoveAll(s.Dir())
}

// info returns the fields of one section of INFO.
func (s *server) info(ctx context.Context, section string) (map[string]string, error) {
	text, err := s.admin.Info(ctx, section).Result()
	if err != nil {
		return nil, err
	}
	return parseInfo(text), nil
}

func parseInfo(text string) map[string]string {
	fields := map[string]string{}
	for line := range strings.SplitSeq(text, "\r\n") {
		if name, value, ok := strings.Cut(line, ":"); ok {
			fields[name] = value
		}
	}
	return fields
}

// calls is how often the named commands have been called, also by scripts.
func (s *server) calls(ctx context.Context, commands []string) (int64, error) {
	stats, err := s.info(ctx, "commandstats")
	if err != nil {
		return 0, err
	}
	var sum int64
	for _, command := range commands {
		sum += parseCalls(stats["cmdstat_"+command])
	}
	return sum, nil
}

// parseCalls reads the value of a line of commandstats, such as calls=3,usec=12. A
// command that has never been called has no such line.
func parseCalls(stat string) int64 {
	calls, _, _ := strings.Cut(strings.TrimPrefix(stat, "calls="), ",")
	n, _ := strconv.ParseInt(calls, 10, 64)
	return n
}

// number reads one numeric field of INFO.
func (s *server) number(ctx context.Context, section, field string) (float64, error) {
	fields, err := s.info(ctx, section)
	if err != nil {
		return 0, err
	}
	n, err := strconv.ParseFloat(fields[field], 64)
	if err != nil {
		return 0, fmt.Errorf("INFO %s: %s: %w", section, field, err)
	}
	return n, nil
}

// fillScript sets keys that expire between ten and twenty minutes from now.
const fillScript = `for i = 1, tonumber(ARGV[1]) do
  redis.call('SET', 'filler:' .. i, i, 'PX', 600000 + math.random(600000))
end
return 1`

// fill adds keys that expire, but not during a measurement.
func (s *server) fill(ctx context.Context, keys int) error {
	return s.admin.Eval(ctx, fillScript, nil, keys).Err()
}
