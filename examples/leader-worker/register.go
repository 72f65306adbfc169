package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/leader"
)

//go:embed register.lua
var registerLua string

var registerScript = redis.NewScript(registerLua)

// register holds a number in Redis, and the numbers before it. It may be on another Redis
// than the election. It rejects a write with a lower fencing token than the highest it has
// accepted. In SQL that would be, with 0 rows for a write that is rejected:
//
//	UPDATE register SET value = $1, token = $2 WHERE id = 1 AND token <= $2
type register struct {
	client redis.UniversalClient
	name   string
}

// The braces put both keys into one slot of a Redis Cluster, as a script needs.
func (r register) tokenKey() string  { return "leader-worker:{" + r.name + "}:token" }
func (r register) writesKey() string { return "leader-worker:{" + r.name + "}:writes" }

// read returns the number, 0 before the first write.
func (r register) read(ctx context.Context) (value int64, err error) {
	text, err := r.client.LIndex(ctx, r.writesKey(), -1).Result()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	if err == nil {
		_, value, err = parseWrite(text)
	}
	return value, err
}

// write replaces the number. The error matches leader.ErrDeposed if a later term has
// written before.
func (r register) write(ctx context.Context, token, value int64) error {
	reply, err := registerScript.Run(ctx, r.client, []string{r.tokenKey(), r.writesKey()}, token, value).Text()
	if err == nil && reply != "OK" {
		err = fmt.Errorf("%w: fencing token %d is lower than %s", leader.ErrDeposed, token, reply)
	}
	return err
}

// highestToken returns the highest token accepted, 0 before the first write.
func (r register) highestToken(ctx context.Context) (int64, error) {
	token, err := r.client.Get(ctx, r.tokenKey()).Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}
	return token, err
}

// parseWrite is the reverse of what register.lua makes of a write.
func parseWrite(text string) (token, value int64, err error) {
	_, err = fmt.Sscan(text, &token, &value)
	return token, value, err
}
