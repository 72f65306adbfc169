package leader

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"
)

// dialError is what a dial of a dead server fails with. Two of them differ in the port.
func dialError(port int) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{Port: port}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// reply is an error that Redis sent.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestErrorKind(t *testing.T) {
	var _ redis.Error = reply("")
	for _, c := range []struct {
		err  error
		want string
	}{
		{context.DeadlineExceeded, "timeout"},
		{fmt.Errorf("redislock: %w", context.DeadlineExceeded), "timeout"},
		{&net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}, "timeout"},
		{reply("READONLY You can't write against a read only replica."), "READONLY"},
		{fmt.Errorf("redislock: release: %w", reply("NOAUTH Authentication required.")), "NOAUTH"},
		{fmt.Errorf("redislock: %w: %w", context.DeadlineExceeded, reply("CLUSTERDOWN The cluster is down")), "CLUSTERDOWN"},
		{dialError(1), "dial: connect: connection refused"},
		{fmt.Errorf("wrapped: %w", dialError(2)), "dial: connect: connection refused"},
		{&net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}, "read: connection reset by peer"},
		{io.EOF, "EOF"},
	} {
		if got := errorKind(c.err); got != c.want {
			t.Errorf("errorKind(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestRepeatedErrorIsLoggedOnceAndCounted(t *testing.T) {
	var log, verbose logLines
	for _, j := range []struct {
		*logLines
		verbosity int
	}{{&log, 0}, {&verbose, 1}} {
		errs := errorLog{logger: j.logger(j.verbosity), over: "Redis answers again"}
		errs.clear() // nothing to log
		for port := range 5 {
			errs.report("Cannot renew the lease", dialError(port))
		}
		errs.report("Cannot renew the lease", errors.New("other"))
		errs.clear()
		errs.clear()
		errs.report("Cannot obtain the lock", dialError(6)) // a new outage
	}
	if lines := log.all(); len(lines) != 4 || len(log.with(`"error"=`)) != 3 || len(log.with("answers again", "refused:5", "other:1")) != 1 {
		t.Errorf("logged %q", lines)
	}
	if lines := verbose.all(); len(lines) != 8 || len(verbose.with(`"times"=5`)) != 1 {
		t.Errorf("at V(1) logged %q", lines)
	}
}
