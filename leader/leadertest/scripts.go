package leadertest

import (
	"regexp"
	"strconv"
	"strings"
)

// script is a script of redislock in Go.
type script func(*call) (reply any)

// scripts are the scripts of redislock by the first word of their source, which says what
// they do. They do what the Lua scripts do, statement by statement, except for
// announcements. The conformance test compares both.
var scripts = map[string]script{
	"Obtains":  (*call).obtain,
	"Sets":     (*call).refresh,
	"Deletes":  (*call).release,
	"Requests": (*call).request,
	"Reads":    (*call).ttl,
}

func (c *call) obtain() any {
	token, metadata, ttl, floor := c.args[0], c.args[1], c.args[2], numberOr0(c.args[3])
	flags, _, _ := strings.Cut(c.args[4], ">")
	locks, counter := c.keys, ""
	if strings.Contains(flags, "f") {
		locks, counter = c.keys[:len(c.keys)-1], c.keys[len(c.keys)-1]
	}
	ours, fence, refusal := c.inspect(locks, token)
	if refusal != nil {
		return refusal
	}
	continued := ours == len(locks) && numberOr0(fence) > floor
	if counter != "" && !continued {
		if fence, refusal = c.mint(counter, floor, strings.Contains(flags, "c")); refusal != nil {
			return refusal
		}
	}
	for _, key := range locks {
		c.hset(key, "token", token)
		c.hset(key, "metadata", metadata)
		c.hset(key, "fence", fence)
		c.pexpire(key, ttl)
	}
	if fence == "0" {
		return int64(0)
	}
	return fence
}

// inspect counts the locks that are ours and returns the highest fencing token of these,
// or why the locks cannot be obtained.
func (c *call) inspect(locks []string, token string) (ours int, fence string, refusal []any) {
	fence = "0"
	for _, key := range locks {
		e := c.live(key)
		if e == nil {
			continue
		}
		held, ok := e.fields["token"]
		if !ok {
			return 0, "", []any{"foreign", e.kind, c.pttl(e)}
		}
		its, ok := e.fields["fence"]
		if held != token {
			if !ok {
				its = "0"
			}
			return 0, "", []any{"held", e.fields["metadata"], its, c.pttl(e)}
		}
		ours++
		if numberOr0(its) > numberOr0(fence) {
			fence = its
		}
	}
	return ours, fence, nil
}

var digits = regexp.MustCompile(`^[0-9]+$`)

// mint takes the next fencing token from the counter, or returns why there is none. Like
// Lua it computes in float64.
func (c *call) mint(counter string, floor float64, clock bool) (fence string, refusal []any) {
	value := "0"
	if e := c.live(counter); e != nil {
		if value = e.value; e.kind != "string" {
			return "", []any{"counter", e.kind, ""}
		}
	}
	next := max(numberOr0(value), floor) + 1
	if clock {
		next = max(next, float64(c.now.UnixMicro()))
	}
	if !digits.MatchString(value) || next >= 1<<53 {
		return "", []any{"counter", "string", value[:min(len(value), 64)]}
	}
	fence = strconv.FormatFloat(next, 'f', 0, 64)
	c.entries[counter] = &entry{kind: "string", value: fence}
	return fence, nil
}

func (c *call) refresh() any {
	reply := int64(1)
	for _, key := range c.keys {
		if !c.holds(key) {
			return int64(0)
		}
		if _, asked := c.hget(key, "resign"); asked {
			reply = 2
		}
	}
	for _, key := range c.keys {
		c.pexpire(key, c.args[1])
	}
	return reply
}

func (c *call) release() any {
	var ours []string
	missing := 0
	for _, key := range c.keys {
		if c.holds(key) {
			ours = append(ours, key)
		} else if c.live(key) == nil {
			missing++
		}
	}
	for _, key := range ours {
		delete(c.entries, key)
	}
	switch len(c.keys) {
	case len(ours):
		return int64(1)
	case missing:
		return int64(0)
	}
	return int64(-1)
}

func (c *call) request() any {
	if fence, ok := c.hget(c.keys[0], "fence"); !ok || fence != c.args[0] {
		return int64(0)
	}
	c.hset(c.keys[0], "resign", c.args[0])
	return int64(1)
}

func (c *call) ttl() any {
	shortest := int64(-1)
	for _, key := range c.keys {
		if !c.holds(key) {
			return int64(-2)
		}
		if ttl := c.pttl(c.live(key)); ttl >= 0 && (shortest < 0 || ttl < shortest) {
			shortest = ttl
		}
	}
	return shortest
}

// holds reports whether the lock at key has the token of this call, which is ARGV[1] of
// every script that asks.
func (c *call) holds(key string) bool {
	token, ok := c.hget(key, "token")
	return ok && token == c.args[0]
}
