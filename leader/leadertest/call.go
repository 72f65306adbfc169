package leadertest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// call is one run of a script. As in Redis, time stands still meanwhile.
type call struct {
	entries map[string]*entry
	now     time.Time
	keys    []string // KEYS
	args    []string // ARGV
}

// newCall prepares a run. The caller holds mu.
func (s *Server) newCall(keys []string, args []any) *call {
	c := &call{entries: s.entries, now: time.Now(), keys: keys}
	for _, arg := range args {
		c.args = append(c.args, text(arg))
	}
	return c
}

// text is an argument as go-redis sends it. It may be a pointer.
func text(arg any) string {
	switch a := arg.(type) {
	case *string:
		return *a
	case *int64:
		return strconv.FormatInt(*a, 10)
	default:
		return fmt.Sprint(a)
	}
}

// entry is what is at a key.
type entry struct {
	kind    string            // as TYPE names it
	fields  map[string]string // of a hash
	value   string            // of a string
	expires int64             // in milliseconds since 1970; 0 if it does not expire
}

// live returns what is at a key, nil if there is nothing. Like Redis it expires a key in
// the millisecond after its time to live.
func (c *call) live(key string) *entry {
	e := c.entries[key]
	if e != nil && e.expires != 0 && c.now.UnixMilli() > e.expires {
		delete(c.entries, key)
		return nil
	}
	return e
}

// hget returns a field of a hash, and false if there is no such field, key or hash.
func (c *call) hget(key, field string) (string, bool) {
	e := c.live(key)
	if e == nil {
		return "", false
	}
	value, ok := e.fields[field]
	return value, ok
}

// hset sets a field of a hash, or of a new one.
func (c *call) hset(key, field, value string) {
	e := c.live(key)
	if e == nil {
		e = &entry{kind: "hash", fields: make(map[string]string)}
		c.entries[key] = e
	}
	e.fields[field] = value
}

func (c *call) pexpire(key, ttl string) {
	c.live(key).expires = c.now.UnixMilli() + int64(numberOr0(ttl))
}

// pttl is the time to live in milliseconds, -1 if the entry has none.
func (c *call) pttl(e *entry) int64 {
	if e.expires == 0 {
		return -1
	}
	return e.expires - c.now.UnixMilli()
}

// numberOr0 is Lua's tonumber(text) or 0.
func numberOr0(text string) float64 {
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) { // out of range it is infinite
		return 0
	}
	return n
}
