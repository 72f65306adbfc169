//go:build chaos && unix

package e2e

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// readEvery is how often the test reads the guarded register.
const readEvery = 100 * time.Millisecond

// startReading reads the guarded register again and again until it is stopped.
func (a *arena) startReading() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		for tick := time.NewTicker(readEvery); ctx.Err() == nil; <-tick.C {
			if err := a.readOnce(ctx); err != nil && ctx.Err() == nil {
				a.t.Errorf("reading the register: %v", err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (a *arena) readOnce(ctx context.Context) error {
	begun := monotonic()
	length, last, err := a.resource.read(ctx)
	if err == nil {
		a.history.add(event{At: monotonic(), Begun: begun, Process: "test", Kind: read, Fence: last.token, Value: last.value, Seq: length})
	}
	return err
}

// read is what the register holds at one moment: how many writes it has accepted, and
// the last one under the highest token.
func (r resource) read(ctx context.Context) (int, entry, error) {
	var length *redis.IntCmd
	var highest, last *redis.StringCmd
	_, err := r.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		length, highest, last = p.LLen(ctx, registerKey), p.Get(ctx, highestKey), p.LIndex(ctx, registerKey, -1)
		return nil
	})
	if errors.Is(err, redis.Nil) {
		return 0, entry{}, nil // nothing was written yet
	}
	if err != nil {
		return 0, entry{}, err
	}
	token, err := highest.Int64()
	_, value, _ := strings.Cut(last.Val(), " ")
	return int(length.Val()), entry{token, value}, err
}
