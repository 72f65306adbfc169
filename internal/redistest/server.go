package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Server is one server: a redis-server process, and those that Restart puts in its
// place. [Start] starts one for a test, [Launch] for any other program.
//
// Addr, Port, Dir, Log, Version, Options and Client may be called from any goroutine
// and at any time, even while the process is down. The methods that start and stop the
// process wait for one another. Shutdown, Restart, Freeze and Thaw fail the test given
// to Start, so they belong on the goroutine of that test, and a server from Launch must
// not be asked for them.
type Server struct {
	tb       testing.TB // the test given to Start; nil after Launch
	binary   string
	dir      string
	config   config
	env      []string // added to the environment of this process
	users    users
	sentinel string // config file of a sentinel; "" for a server that holds data
	port     int
	version  string // set by the first start, and not changed afterwards

	mu   sync.Mutex // guards proc, and makes starts and stops run one at a time
	proc *process   // the latest process; nil before the first
}

// Launch starts a redis-server on a free loopback port and returns when it serves. The
// caller stops it with [Server.Stop], and removes dir afterwards.
//
// The server keeps its files in dir, which must exist, and does not persist its data.
// config is appended to its arguments, for example "--maxmemory", "100mb"; later settings
// win. config must not change the port, the address or the directory. Give a password
// with "--requirepass", where Options finds it. With "--cluster-enabled", "yes" the
// server also gets a free port for the cluster bus.
//
// If the server does not come up, the error includes its log.
func Launch(dir string, config ...string) (*Server, error) {
	return launch(dir, nil, config)
}

// launch is Launch with additions to the environment of the process.
func launch(dir string, env []string, config config) (*Server, error) {
	binary, err := serverBinary()
	if err != nil {
		return nil, err
	}
	users, err := leastPrivilege(config)
	if err != nil {
		return nil, err
	}
	s := &Server{
		binary: binary, dir: dir, users: users,
		config: slices.Clone(config), env: slices.Clone(env),
	}
	if err := s.startOnFreePort(); err != nil {
		return nil, err
	}
	return s, nil
}

// Addr is the address of the server as host:port. Restart does not change it.
func (s *Server) Addr() string {
	return loopback(s.port)
}

// Port is the port that the server listens on. Restart does not change it.
func (s *Server) Port() int {
	return s.port
}

// Dir is the directory that holds the server's files.
func (s *Server) Dir() string {
	return s.dir
}

// Version is the name and version of the server's software, such as "Redis 7.0.15" or
// "Valkey 8.0.1".
func (s *Server) Version() string {
	return s.version
}

// Log is everything that the server has printed since its first start.
func (s *Server) Log() string {
	text, err := os.ReadFile(s.logPath())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err.Error()
	}
	return string(text)
}

// Options returns new options for a client of this server. They hold its address and
// the password given with "--requirepass", if any, and let contexts bound each call.
func (s *Server) Options() *redis.Options {
	options := &redis.Options{
		Addr:                  s.Addr(),
		Password:              s.config.value("--requirepass"),
		ContextTimeoutEnabled: true,
	}
	s.users.restrict(options)
	return options
}

// adminOptions are Options for a client that has all rights.
func (s *Server) adminOptions() *redis.Options {
	options := s.Options()
	s.users.permitAll(options)
	return options
}

// logPath is the file that receives the server's output. A file needs no goroutine that
// copies the output, and it outlives the process.
func (s *Server) logPath() string {
	return filepath.Join(s.dir, "redis-server.log")
}

// arguments is the command line of the server.
func (s *Server) arguments() []string {
	arguments := slices.Concat(baseConfig(s.port, s.dir), s.users.config, s.config)
	if s.sentinel != "" {
		arguments = append(config{s.sentinel, "--sentinel"}, arguments...)
	}
	return arguments
}

// failed adds the server's log to the error of a start or stop.
func (s *Server) failed(what string, err error) error {
	return fmt.Errorf("redistest: %s of %s on %s: %w\n%s", what, s.binary, s.Addr(), err, s.Log())
}
