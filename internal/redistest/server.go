package redistest

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Server is a redis-server process that belongs to one test.
//
// Addr, Port, Options, Client, Dir and Log may be called from any goroutine
// and at any time, also while the process is down. Kill, Shutdown, Restart,
// Freeze and Thaw wait for one another; as they fail the test when they do not
// succeed, they are meant for the goroutine of the test.
type Server struct {
	tb       testing.TB
	binary   string
	dir      string
	config   config
	env      []string // in addition to that of the test
	users    users
	sentinel string // config file of a sentinel, "" of a server that holds data
	port     int
	bus      int // port of the cluster bus, 0 without cluster

	mu   sync.Mutex // guards proc, and makes life-cycle calls run one by one
	proc *process   // the latest run, nil before the first
}

// Start starts a redis-server on a free loopback port and returns when it
// serves. It ends with the test: TERM, and KILL if that is not enough.
//
// The server keeps its files in a directory of its own and does not persist.
// config is appended to its arguments, for example "--maxmemory", "1mb"; later
// settings win. Port, address and directory are not for config to change. With
// "--cluster-enabled", "yes" the cluster bus gets a free port too. A password
// belongs in "--requirepass", where Options finds it.
//
// The test fails if redis-server is not installed or does not come up; the
// message then holds the server's log.
func Start(tb testing.TB, config ...string) *Server {
	tb.Helper()
	return StartEnv(tb, nil, config...)
}

// StartEnv is Start with additions to the environment of the process, each
// "NAME=value". They stay over restarts.
func StartEnv(tb testing.TB, env []string, config ...string) *Server {
	tb.Helper()
	binary, err := findBinary("redis-server", "/usr/bin/redis-server")
	if err != nil {
		tb.Fatal(err)
	}
	s := &Server{tb: tb, binary: binary, dir: tb.TempDir(), config: slices.Clone(config), env: slices.Clone(env)}
	s.users = leastPrivilege(tb, s.config)
	tb.Cleanup(s.stop)
	if err := s.startAnywhere(); err != nil {
		tb.Fatalf("redistest: redis-server did not start: %v\n%s", err, s.Log())
	}
	return s
}

// Addr is the address of the server as host:port. It stays the same over
// restarts.
func (s *Server) Addr() string {
	return loopback(s.port)
}

// Port is the port the server listens on. It stays the same over restarts.
func (s *Server) Port() int {
	return s.port
}

// Dir is the directory that holds the server's files. It is removed at the end
// of the test.
func (s *Server) Dir() string {
	return s.dir
}

// Log is what the server has printed so far, over all its runs.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return string(text)
}

// Options returns new options for a client of this server: its address, the
// password given with "--requirepass" if any, and contexts that bound each call.
func (s *Server) Options() *redis.Options {
	options := &redis.Options{
		Addr:                  s.Addr(),
		Password:              s.config.value("--requirepass"),
		ContextTimeoutEnabled: true,
	}
	s.users.identify(options)
	return options
}

// Client returns a new client of this server, which is closed at the end of tb.
func (s *Server) Client(tb testing.TB) *redis.Client {
	options := s.Options()
	s.users.promote(options)
	client := redis.NewClient(options)
	// Closing fails only for a client the test has closed already.
	tb.Cleanup(func() { _ = client.Close() })
	return client
}

// logPath is the file that the server's output goes to. A file needs no
// goroutine that copies, and whatever is in it survives the process.
func (s *Server) logPath() string {
	return filepath.Join(s.dir, "redis-server.log")
}

// arguments is the command line of the server.
func (s *Server) arguments() []string {
	arguments := append(base(s.port, s.dir), s.users.config...)
	if s.sentinel != "" {
		arguments = append(config{s.sentinel, "--sentinel"}, arguments...)
	}
	if s.bus != 0 {
		arguments = append(arguments, "--cluster-port", strconv.Itoa(s.bus))
	}
	return append(arguments, s.config...)
}
