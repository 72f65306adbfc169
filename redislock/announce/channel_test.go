package announce

import (
	"slices"
	"testing"
)

func TestChannelsKeepTheHashTag(t *testing.T) {
	want := []string{
		"redisleader:{job}:announce:0",
		"redisleader:{job}:announce:1",
		"redisleader:{job}:announce:2",
		"redisleader:{job}:announce:3",
	}
	if got := Channels(job); !slices.Equal(got, want) {
		t.Errorf("Channels(%q) = %q, want %q", job, got, want)
	}
}

func TestForgedMessagesAreReadWithCare(t *testing.T) {
	for _, payload := range []string{"", "releas", "released?", "free 1", "acquire", "acquiredover", "taken"} {
		if kind, _, ok := decode(payload); ok {
			t.Errorf("%q was read as %v", payload, kind)
		}
	}
	for payload, want := range map[string]int{
		"released": 0, "released x": 0, "released 7": 7, "released 99999999": maxListeners, "released -5": -5,
	} {
		if kind, listeners, ok := decode(payload); !ok || kind != Released || listeners != want {
			t.Errorf("%q: %v, %d listeners, %t", payload, kind, listeners, ok)
		}
	}
	if kind, _, ok := decode("acquired"); !ok || kind != Acquired {
		t.Errorf("acquired was read as %v, %t", kind, ok)
	}
}
