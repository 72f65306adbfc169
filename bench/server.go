package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

// server is a redis-server of the bench's own, on a free port.
type server struct {
	addr  string
	admin *redis.Client // for questions about the server, never for what is measured
	host  *host
}

// startServer starts a redis-server that does not persist.
func startServer() (_ *server, err error) {
	dir, err := os.MkdirTemp("", "redisleader-bench-")
	if err != nil {
		return nil, err
	}
	h := &host{dir: dir}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case hostFailure:
			h.cleanUp()
			err = errors.New(string(p))
		default:
			panic(p)
		}
	}()
	s := redistest.Start(h)
	return &server{addr: s.Addr(), admin: redis.NewClient(s.Options()), host: h}, nil
}

func (s *server) stop() {
	_ = s.admin.Close()
	s.host.cleanUp()
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

// calls is how often the named commands have been called, those made by scripts included.
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

// parseCalls reads the value of a line of commandstats, such as calls=3,usec=12; a
// command that was never called has none.
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

// fill adds keys that expire, but not soon: between ten and twenty minutes from now.
func (s *server) fill(ctx context.Context, keys int) error {
	const script = `for i = 1, tonumber(ARGV[1]) do redis.call('SET', 'filler:' .. i, i, 'PX', 600000 + math.random(600000)) end return 1`
	return s.admin.Eval(ctx, script, nil, keys).Err()
}

// host stands in for a test, so that a program can use the servers that tests use. It
// has what redistest calls of a test.
type host struct {
	testing.TB // nil
	dir        string
	cleanups   []func()
}

// hostFailure is the panic of a host whose test would have failed.
type hostFailure string

func (h *host) Helper()                      {}
func (h *host) TempDir() string              { return h.dir }
func (h *host) Cleanup(f func())             { h.cleanups = append(h.cleanups, f) }
func (h *host) Fatal(args ...any)            { panic(hostFailure(fmt.Sprint(args...))) }
func (h *host) Fatalf(f string, args ...any) { panic(hostFailure(fmt.Sprintf(f, args...))) }
func (h *host) Errorf(f string, args ...any) { fmt.Fprintf(os.Stderr, f+"\n", args...) }
func (h *host) Logf(f string, args ...any)   { fmt.Fprintf(os.Stderr, f+"\n", args...) }

func (h *host) cleanUp() {
	for _, f := range slices.Backward(h.cleanups) {
		f()
	}
	_ = os.RemoveAll(h.dir)
}
