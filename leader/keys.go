package leader

import "strings"

// escape replaces the characters that would end a hash tag early, and its own. Distinct
// names stay distinct.
var escape = strings.NewReplacer("%", "%25", "{", "%7B", "}", "%7D")

// lockKey is the key of the lock for name. The hash tag puts all keys of one name into
// one Cluster slot.
func lockKey(prefix, name string) string { return prefix + "{" + escape.Replace(name) + "}" }

// fenceKey is the key of the counter that the fencing tokens of a lock come from.
func fenceKey(lockKey string) string { return lockKey + ":fence" }
