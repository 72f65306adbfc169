package leader

import (
	"slices"
	"testing"
	"testing/synctest"
)

// A leader that is elected again has a new term, but is not a new leader.
func TestOnNewLeaderSkipsTheSameIdentity(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		n := notifier{handler: func(identity string) { told = append(told, identity) }, panics: new(panics)}
		for _, identity := range []string{"a", "a", "b", "b", "", "b", "a"} {
			n.notify(identity)
			synctest.Wait()
		}
		if want := []string{"a", "b", "a"}; !slices.Equal(told, want) {
			t.Errorf("told of %q, want %q", told, want)
		}
	})
}
