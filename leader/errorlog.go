package leader

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"
)

// errorLog logs errors that are repeated: each kind once, and when the trouble is over,
// how many there were of each.
type errorLog struct {
	logger logr.Logger
	over   string         // what to log when the trouble is over
	counts map[string]int // by kind, since all was well
}

func (l *errorLog) report(message string, err error) {
	k := errorKind(err)
	if l.counts == nil {
		l.counts = make(map[string]int)
	}
	l.counts[k]++
	if l.counts[k] == 1 {
		l.logger.Error(err, message)
		return
	}
	l.logger.V(1).Info(message, "error", err, "times", l.counts[k])
}

func (l *errorLog) clear() {
	if len(l.counts) == 0 {
		return
	}
	l.logger.Info(l.over, "errors", fmt.Sprint(l.counts))
	l.counts = nil
}

// errorKind is the same for errors that differ in addresses only: two attempts to reach
// one dead server fail with different texts.
func errorKind(err error) string {
	var network *net.OpError
	var reply redis.Error
	switch {
	case errors.As(err, &reply): // before the timeout that kept it from being retried
		code, _, _ := strings.Cut(reply.Error(), " ")
		return code
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		return "timeout"
	case errors.As(err, &network):
		return fmt.Sprintf("%s: %v", network.Op, network.Err)
	default:
		return err.Error()
	}
}
