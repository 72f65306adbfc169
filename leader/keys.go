package leader

import "strings"

// DefaultKeyPrefix is the default of Config.KeyPrefix.
const DefaultKeyPrefix = "redisleader:"

// LockKey returns the Redis key of the lock for which the candidates of an election
// compete: prefix + "{" + name + "}". An empty prefix means DefaultKeyPrefix. The
// braces make a hash tag, which puts all keys of one name into one Cluster slot. Braces
// and percent signs in name are escaped, so that different names have different keys.
func LockKey(prefix, name string) string {
	if prefix == "" {
		prefix = DefaultKeyPrefix
	}
	return prefix + "{" + escape.Replace(name) + "}"
}

// FenceKey returns the Redis key of the counter from which the fencing tokens of an
// election come: LockKey(prefix, name) + ":fence".
func FenceKey(prefix, name string) string { return LockKey(prefix, name) + ":fence" }

// escape replaces the characters that would end a hash tag early, and its own.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")
