package redislock

import (
	"slices"
	"strings"
	"testing"
)

// Obtain does every step that can fail before its first write, because Redis does not
// roll a script back. So nothing is left behind if one step is denied. The token is
// explicit, so that no clean-up hides what was left.
func TestRefusedStepLeavesNoLock(t *testing.T) {
	for _, missing := range []string{"type", "get", "set", "time", "hset", "pexpire"} {
		t.Run(missing, func(t *testing.T) {
			e := onOwnServer(t)
			e.must(e.redis.Set(t.Context(), appKey+":fence", "7", 0).Err())
			rules := slices.DeleteFunc(e.documented(), func(rule string) bool { return rule == "+"+missing })
			_, err := Obtain(t.Context(), e.as("app", rules...), appKey, long, &Options{Token: "chosen", FenceKey: appKey + ":fence", FenceClock: true})
			wantFailure(t, err)
			if err == nil || !strings.Contains(err.Error(), "NOPERM") || !strings.Contains(err.Error(), strings.ToUpper(missing)) {
				t.Errorf("error = %v, want NOPERM and the command %q in it", err, missing)
			}
			e.wantGone(appKey)
		})
	}
}

// The same holds if the user may not access the counter.
func TestRefusedCounterLeavesNoLock(t *testing.T) {
	e := onOwnServer(t)
	_, err := Obtain(t.Context(), e.as("app", e.documented()...), appKey, long, &Options{Token: "chosen", FenceKey: "counter{app}"})
	wantFailure(t, err)
	if err == nil || !strings.Contains(err.Error(), "NOPERM") {
		t.Errorf("error = %v, want NOPERM in it", err)
	}
	e.wantGone(appKey)
}
