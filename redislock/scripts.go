package redislock

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// This file alone knows what the scripts reply. The head of each script lists its
// replies.
//
// The scripts have no shebang line, because Redis refuses to run a script that has one
// when memory is full. They are called with EVALSHA and EVAL, never with the read-only
// variants, because those may be routed to a replica.
var (
	//go:embed obtain.lua
	obtainSource string
	//go:embed refresh.lua
	refreshSource string
	//go:embed release.lua
	releaseSource string
	//go:embed request.lua
	requestSource string
	//go:embed ttl.lua
	ttlSource string

	obtainScript  = newScript(obtainSource)
	refreshScript = newScript(refreshSource)
	releaseScript = newScript(releaseSource)
	requestScript = newScript(requestSource)
	ttlScript     = newScript(ttlSource)
)

// obtainReply decodes the reply of obtain.lua. Exactly one of the results counts: the
// error, the holder, or the fencing token.
func obtainReply(reply any, fenceKey string) (fence int64, holder *Holder, err error) {
	switch r := reply.(type) {
	case int64:
		return r, nil, nil
	case string:
		fence, err = strconv.ParseInt(r, 10, 64)
	case []any:
		holder, err = refusal(r, fenceKey)
	default:
		err = fmt.Errorf("reply is a %T", reply)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("redislock: obtain: %w", err)
	}
	return fence, holder, nil
}

// refusal decodes the list with which obtain.lua replies if it has obtained nothing.
func refusal(r []any, fenceKey string) (*Holder, error) {
	switch kind, _ := r[0].(string); {
	case kind == "held" && len(r) == 4:
		metadata, _ := r[1].(string)
		fence, _ := r[2].(string)
		token, _ := strconv.ParseInt(fence, 10, 64)
		if token < 0 || token > maxFence {
			token = 0 // no script has minted that
		}
		return &Holder{Metadata: metadata, FenceToken: token, TTL: pttl(r[3])}, nil
	case kind == "foreign" && len(r) == 3:
		what, _ := r[1].(string)
		return &Holder{Metadata: what, TTL: pttl(r[2]), Foreign: true}, nil
	case kind == "counter" && len(r) == 3:
		return nil, fmt.Errorf("fence key %q holds the %v %q: no counter, or no token is left below 2^53", fenceKey, r[1], r[2])
	default:
		return nil, fmt.Errorf("unknown reply %q", kind)
	}
}

// pttl decodes a time to live in milliseconds. It is negative if there is none.
func pttl(reply any) time.Duration {
	ms, _ := reply.(int64)
	return time.Duration(ms) * time.Millisecond
}

// Replies of refresh.lua, release.lua and request.lua.
const (
	refreshed         = 1
	refreshedAndAsked = 2
	released          = 1
	releasedNothing   = 0
	requested         = 1
)

// ttlNotOurs is the reply of ttl.lua if the lock is not ours.
const ttlNotOurs = -2

// script is a script together with its source, to look up what failed in it.
type script struct {
	*redis.Script
	source string
}

func newScript(source string) script { return script{redis.NewScript(source), source} }

// run runs a script in one call, or in two if the server does not know it yet. If there
// was no reply, a Cluster client has to look again which node serves the slot. By
// itself it goes on asking a dead master for up to a minute
// (redis.ClusterOptions.ClusterStateReloadInterval).
func (c *Client) run(ctx context.Context, s script, keys []string, args ...any) (any, error) {
	reply, err := s.Run(ctx, c.client, keys, args...).Result()
	if err == nil {
		return reply, nil
	}
	var answer redis.Error
	if errors.As(err, &answer) {
		return nil, s.nameDenied(err)
	}
	if cluster, ok := c.client.(interface{ ReloadState(context.Context) }); ok {
		cluster.ReloadState(ctx)
	}
	return nil, err
}

// runInt runs a script that replies with a number.
func (c *Client) runInt(ctx context.Context, s script, keys []string, args ...any) (int64, error) {
	reply, err := c.run(ctx, s, keys, args...)
	if err != nil {
		return 0, err
	}
	number, ok := reply.(int64)
	if !ok {
		return 0, fmt.Errorf("redislock: reply is a %T", reply)
	}
	return number, nil
}

var (
	deniedAt  = regexp.MustCompile(`can't run this command.*@user_script: ?(\d+)`)
	commandIn = regexp.MustCompile(`call\('(\w+)'`)
)

// nameDenied adds to an error the command that the user has no permission to run. All
// that Redis 7.0 says about it is the line of the script.
func (s script) nameDenied(err error) error {
	at := deniedAt.FindStringSubmatch(err.Error())
	if at == nil {
		return err
	}
	lines := strings.Split(s.source, "\n")
	line, _ := strconv.Atoi(at[1])
	if line < 1 || line > len(lines) {
		return err
	}
	command := commandIn.FindStringSubmatch(lines[line-1])
	if command == nil {
		return err
	}
	return fmt.Errorf("redislock: NOPERM: the user has no permission to run %s: %w", command[1], err)
}

// explain adds to an error of the server what its text leaves out.
func explain(err error, keys []string, fenceKey string) error {
	if strings.HasPrefix(err.Error(), "CROSSSLOT") {
		return fmt.Errorf("redislock: keys %q and fence key %q are not all in one cluster slot, give them one hash tag: %w", keys, fenceKey, err)
	}
	return err
}
