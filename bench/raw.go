package main

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// The floor: the least that a lock on go-redis must do.
var (
	rawDelete = redis.NewScript(`if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call("DEL", KEYS[1])`)

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

// openRaw obtains with SET NX PX and releases with a script that compares and deletes. It
// always uses the same token, which no real lock may do.
func openRaw(addr string) (cycle, func(), error) {
	client := redis.NewClient(clientOptions(addr))
	var token any = rawToken()
	return func(ctx context.Context, key string) error {
		if ok, err := client.SetNX(ctx, key, token, cycleTTL).Result(); err != nil || !ok {
			return errors.Join(err, errorUnless(ok, "SET NX: not obtained"))
		}
		deleted, err := rawDelete.Run(ctx, client, []string{key}, token).Int64()
		return errors.Join(err, errorUnless(deleted == 1, "nothing deleted"))
	}, func() { _ = client.Close() }, nil
}

// errorUnless returns nil if ok, or else an error with the text.
func errorUnless(ok bool, text string) error {
	if ok {
		return nil
	}
	return errors.New(text)
}

// floorContender publishes and then obtains: the holder's script deletes the key and
// publishes, and each subscriber tries as soon as it hears of that. A hand-over through
// Redis cannot be much faster. It does not renew, and a lost message leaves it waiting.
func floorContender() contender {
	return contender{
		name:     "raw go-redis, publish then SET NX",
		key:      plainKey,
		sends:    []string{"set", "evalsha", "eval"},
		releases: 1,
		newReplica: func(e *election, _ string) (replica, error) {
			client, d := e.client()
			return &rawReplica{election: e, client: client, dialer: d}, nil
		},
	}
}

type rawReplica struct {
	election *election
	client   *redis.Client
	dialer   *dialer
	token    string
}

func (r *rawReplica) compete(ctx context.Context) (time.Time, error) {
	released := r.client.Subscribe(ctx, r.election.name)
	defer func() { _ = released.Close() }()
	// The end of ctx does not end a receive under way, but closing does.
	defer context.AfterFunc(ctx, func() { _ = released.Close() })()
	if _, err := released.Receive(ctx); err != nil {
		return time.Time{}, err
	}
	r.token = rawToken()
	for {
		ok, err := r.client.SetNX(ctx, r.election.name, r.token, r.election.timings.lease).Result()
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
	keys := []string{r.election.name}
	deleted, err := rawDeleteAndPublish.Run(ctx, r.client, keys, r.token).Int64()
	return began, errors.Join(err, errorUnless(deleted == 1, "nothing deleted"))
}

func (r *rawReplica) crash() { r.dialer.cut() }
func (r *rawReplica) close() { _ = r.client.Close() }
