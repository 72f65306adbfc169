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

// dialError is what two dials of one dead server have in common, but for the port of
// our own end.
func dialError(port int) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: &net.TCPAddr{Port: port}, Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// reply is an error that Redis sent.
type reply string

func (r reply) Error() string { return string(r) }
func (reply) RedisError()     {}

func TestKindOfError(t *testing.T) {
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
		if got := kind(c.err); got != c.want {
			t.Errorf("kind(%v) = %q, want %q", c.err, got, c.want)
		}
	}
}

func TestTroubleIsLoggedOnceAndCounted(t *testing.T) {
	var log, verbose journal
	for _, j := range []struct {
		*journal
		verbosity int
	}{{&log, 0}, {&verbose, 1}} {
		trouble := trouble{logger: j.logger(j.verbosity), over: "Redis answers again"}
		trouble.clear() // nothing to tell
		for port := range 5 {
			trouble.report("Cannot renew the lease", dialError(port))
		}
		trouble.report("Cannot renew the lease", errors.New("other"))
		trouble.clear()
		trouble.clear()
		trouble.report("Cannot obtain the lock", dialError(6)) // a new outage
	}
	if lines := log.all(); len(lines) != 4 || len(log.with(`"error"=`)) != 3 || len(log.with("answers again", "refused:5", "other:1")) != 1 {
		t.Errorf("logged %q", lines)
	}
	if lines := verbose.all(); len(lines) != 8 || len(verbose.with(`"times"=5`)) != 1 {
		t.Errorf("at V(1) logged %q", lines)
	}
}
