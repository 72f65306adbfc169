package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// The floor: what a lock on go-redis cannot do without.
var (
	rawDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`)

	rawDeleteAndPublish = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
redis.call("PUBLISH", KEYS[1], "")
return 1`)
)

func rawToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// openRaw obtains with SET NX PX and releases with a script that compares and deletes.
// Its token is the same each time, which no lock can afford.
func openRaw(addr string) (cycle, func(), error) {
	client := redis.NewClient(clientOptions(addr))
	var token any = rawToken()
	return func(ctx context.Context, key string) error {
		if ok, err := client.SetNX(ctx, key, token, cycleTTL).Result(); err != nil || !ok {
			return errors.Join(err, unless(ok, "SET NX: not obtained"))
		}
		deleted, err := rawDelete.Run(ctx, client, []string{key}, token).Int64()
		return errors.Join(err, unless(deleted == 1, "nothing deleted"))
	}, func() { _ = client.Close() }, nil
}

// unless is an error if something is not so.
func unless(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

// floorContender is publish-then-obtain: the holder's script deletes and publishes, and
// a subscriber that hears of it tries at once. A hand-over over Redis cannot be much
// faster. It neither renews nor survives a lost message.
func floorContender() contender {
	return contender{
		name:     "raw go-redis, publish then SET NX",
		key:      plainKey,
		sends:    []string{"set", "evalsha", "eval"},
		releases: 1,
		enlist: func(a *arena, _ string) (replica, error) {
			client, l := a.client()
			return &rawReplica{arena: a, client: client, line: l}, nil
		},
	}
}

type rawReplica struct {
	arena  *arena
	client *redis.Client
	line   *line
	token  string
}

func (r *rawReplica) compete(ctx context.Context) (time.Time, error) {
	released := r.client.Subscribe(ctx, r.arena.name)
	defer func() { _ = released.Close() }()
	defer context.AfterFunc(ctx, func() { _ = released.Close() })() // ends a receive under way
	if _, err := released.Receive(ctx); err != nil {
		return time.Time{}, err
	}
	r.token = rawToken()
	for {
		ok, err := r.client.SetNX(ctx, r.arena.name, r.token, r.arena.timings.lease).Result()
		if err != nil || ok {
			return time.Now(), err
		}
		if _, err := released.ReceiveMessage(ctx); err != nil {
			return time.Time{}, err
		}
	}
}

func (r *rawReplica) leave(ctx context.Context) (time.Time, error) {
	began := time.Now()
	deleted, err := rawDeleteAndPublish.Run(ctx, r.client, []string{r.arena.name}, r.token).Int64()
	return began, errors.Join(err, unless(deleted == 1, "nothing deleted"))
}

func (r *rawReplica) crash() { r.line.cut() }
func (r *rawReplica) close() { _ = r.client.Close() }
