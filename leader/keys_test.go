package leader

import (
	"strings"
	"testing"
)

func TestKeysOfANameShareTheirHashTag(t *testing.T) {
	for name, want := range map[string]string{
		"orders":  "p:{orders}",
		"a b/c:d": "p:{a b/c:d}",
		"{a}":     "p:{%7Ba%7D}",
		"a}b{c":   "p:{a%7Db%7Bc}",
		"100%":    "p:{100%25}",
		"%7Ba%7D": "p:{%257Ba%257D}",
		"größe\n": "p:{größe\n}",
	} {
		key := LockKey("p:", name)
		if key != want {
			t.Errorf("LockKey(%q) = %q, want %q", name, key, want)
		}
		for _, key := range []string{key, FenceKey("p:", name)} {
			// Redis hashes what is between the first brace and the next closing one.
			_, rest, _ := strings.Cut(key, "{")
			if tag, _, ok := strings.Cut(rest, "}"); !ok || "p:{"+tag+"}" != want {
				t.Errorf("hash tag of %q is %q", key, tag)
			}
		}
	}
}

func TestDistinctNamesHaveDistinctKeys(t *testing.T) {
	parts := []string{"", "a", "{", "}", "%", "7B", "7D", "25", ":fence"}
	seen := make(map[string]string)
	note := func(key, of string) {
		if other, ok := seen[key]; ok && other != of {
			t.Errorf("%q is a key of %q and of %q", key, other, of)
		}
		seen[key] = of
	}
	for _, a := range parts {
		for _, b := range parts {
			for _, c := range parts {
				name := a + b + c
				note(LockKey("p:", name), "lock "+name)
				note(FenceKey("p:", name), "fence "+name)
			}
		}
	}
}

func TestLeaderRecordRoundTrip(t *testing.T) {
	c := leaderRecord{"a", map[string]string{"zone": "z1"}}
	if got := decodeLeaderRecord(c.encode()); got.Identity != "a" || got.Metadata["zone"] != "z1" {
		t.Errorf("%+v", got)
	}
	for _, text := range []string{"", "plain", "{", "{}", `{"identity":""}`, "7", "null", `["a"]`} {
		if got := decodeLeaderRecord(text); got.Identity != text {
			t.Errorf("decodeLeaderRecord(%q).Identity = %q, want the text itself", text, got.Identity)
		}
	}
}
