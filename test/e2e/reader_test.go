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

// startReading starts a goroutine that reads the guarded register again and again. The
// function it returns stops the goroutine and waits for it.
func (env *chaosEnvironment) startReading() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		for tick := time.NewTicker(readEvery); ctx.Err() == nil; <-tick.C {
			if err := env.readOnce(ctx); err != nil && ctx.Err() == nil {
				env.t.Errorf("reading the register: %v", err)
				return
			}
		}
	}()
	return func() { cancel(); <-done }
}

func (env *chaosEnvironment) readOnce(ctx context.Context) error {
	begun := monotonic()
	length, last, err := env.resource.read(ctx)
	if err != nil {
		return err
	}
	e := event{At: monotonic(), Begun: begun, Process: "test", Kind: read}
	e.Fence, e.Value, e.Seq = last.token, last.value, length
	env.history.add(e)
	return nil
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
		return 0, entry{}, nil // nothing has been written yet
	}
	if err != nil {
		return 0, entry{}, err
	}
	token, err := highest.Int64()
	_, value, _ := strings.Cut(last.Val(), " ")
	return int(length.Val()), entry{token, value}, err
}
