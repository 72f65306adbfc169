package clock

import (
	"context"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/internal/redistest"
)

const (
	lease     = 3 * time.Second
	step      = time.Minute
	waitLimit = 20 * time.Second // for what should happen soon, on a busy machine
)

// server is a Redis server with a wall clock that the test can set.
type server struct {
	*redistest.Server
	t     *testing.T
	redis *redis.Client
	file  *os.File // what the preloaded library reads
	ahead time.Duration
}

// start starts a server and checks that its clock can be set.
func start(t *testing.T) *server {
	t.Helper()
	file, err := os.Create(filepath.Join(t.TempDir(), "skew"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	s := &server{t: t, file: file}
	s.write()
	s.Server = redistest.StartEnv(t, []string{"LD_PRELOAD=" + library(t), "CLOCK_SKEW_FILE=" + file.Name()})
	s.redis = s.Client(t)
	s.set(-time.Hour)
	s.set(time.Hour)
	s.set(0)
	return s
}

// library builds the library that is preloaded, and returns its path.
func library(t *testing.T) string {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Fatalf("these tests build a small C library: install a C compiler with `apt-get install gcc libc6-dev` or `make deps`: %v", err)
	}
	path := filepath.Join(t.TempDir(), "skew.so")
	out, err := exec.Command(cc, "-shared", "-fPIC", "-O2", "-Wall", "-Werror", "-o", path, "testdata/skew.c").CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cc, err, out)
	}
	return path
}

// set sets the server's clock ahead of this machine's and waits until the server uses
// it.
func (s *server) set(ahead time.Duration) {
	s.t.Helper()
	s.ahead = ahead
	s.write()
	s.await("the clock of the server is set", func() bool {
		off := s.now().Sub(time.Now().Add(ahead))
		return -5*time.Second < off && off < 5*time.Second
	})
}

// step sets the server's clock forward by d, or back if d is negative.
func (s *server) step(d time.Duration) {
	s.t.Helper()
	s.set(s.ahead + d)
}

func (s *server) write() {
	s.t.Helper()
	var bytes [8]byte
	binary.NativeEndian.PutUint64(bytes[:], uint64(s.ahead.Microseconds()))
	if _, err := s.file.WriteAt(bytes[:], 0); err != nil {
		s.t.Fatal(err)
	}
}

// now is the time of the server's clock.
func (s *server) now() time.Time {
	s.t.Helper()
	now, err := s.redis.Time(context.Background()).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	return now
}

// ttl is how long a key has left by the server's clock.
func (s *server) ttl(key string) time.Duration {
	s.t.Helper()
	ttl, err := s.redis.PTTL(context.Background(), key).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	return ttl
}

// await polls until the condition holds.
func (s *server) await(what string, condition func() bool) {
	s.t.Helper()
	begin := time.Now()
	for !condition() {
		if time.Since(begin) > waitLimit {
			s.t.Fatalf("timed out waiting for: %s", what)
		}
		time.Sleep(time.Millisecond)
	}
}
