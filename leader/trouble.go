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

// trouble logs what goes wrong again and again: each kind of error once, and when it is
// over how many there were.
type trouble struct {
	logger logr.Logger
	over   string         // what to say when it is over
	counts map[string]int // by kind, since all was well
}

func (t *trouble) report(message string, err error) {
	k := kind(err)
	if t.counts == nil {
		t.counts = make(map[string]int)
	}
	t.counts[k]++
	if t.counts[k] == 1 {
		t.logger.Error(err, message)
		return
	}
	t.logger.V(1).Info(message, "error", err, "times", t.counts[k])
}

func (t *trouble) clear() {
	if len(t.counts) == 0 {
		return
	}
	t.logger.Info(t.over, "errors", fmt.Sprint(t.counts))
	t.counts = nil
}

// kind is what errors have in common that differ in addresses only: two attempts over
// two connections to one dead server fail with different texts.
func kind(err error) string {
	var network *net.OpError
	var reply redis.Error
	switch {
	case errors.As(err, &reply): // first: it says more than that there was no time left to try again
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
