package show

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// actAs in the environment makes the test binary a replica.
const actAs = "SHOW_TEST_ACT_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(actAs) {
	case "":
		goleak.VerifyTestMain(m)
	case "crash":
		_, _ = os.Stderr.WriteString("panic: no log record\n")
		os.Exit(3)
	default: // waits until it is told to end, or its parent is gone
		ctx, stop := ChildContext()
		<-ctx.Done()
		stop()
	}
}

// testCast is a cast whose timeline goes to the builder once it is closed.
func testCast(t *testing.T, as string) (*Cast, *strings.Builder, chan error) {
	t.Helper()
	var out strings.Builder
	failed := make(chan error, 1)
	return &Cast{
		Timeline: NewTimeline(&out, Palette{}),
		Args:     func(string) []string { return nil },
		Env:      []string{actAs + "=" + as},
		Fail:     func(err error) { failed <- err },
	}, &out, failed
}

func at(seconds float64) time.Time {
	return time.Unix(1_700_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
}

func TestReigns(t *testing.T) {
	t.Parallel()
	c, out, _ := testCast(t, "")
	if _, ok := c.Leader(); ok {
		t.Error("somebody leads before anybody did")
	}
	c.heard("a", []byte(`{"time":"2023-11-14T22:13:20Z","level":"INFO","msg":"Work started","fence":9007199254740990}`))
	c.Strike(9007199254740990, at(2))
	c.Strike(9007199254740990, at(5)) // what a frozen process says later does not move the end of its term
	c.heard("b", []byte(`{"time":"2023-11-14T22:13:25Z","level":"INFO","msg":"Work started","fence":9007199254740991}`))
	if leader, ok := c.Leader(); !ok || leader.Leader != "b" || leader.Fence != 9007199254740991 {
		t.Errorf("leader: %+v", leader)
	}
	if found, err := c.LeaderAfter(t.Context(), 9007199254740990); err != nil || found.Leader != "b" {
		t.Errorf("the next leader: %+v, %v", found, err)
	}
	c.bury("b", at(9))
	if all := c.Reigns(); !all[0].Ended.Equal(at(2)) || !all[1].Ended.Equal(at(9)) {
		t.Errorf("terms: %+v", all)
	}
	c.heard("b", []byte(`{"level":"ERROR","msg":"Cannot obtain the lock","err":"refused"}`))
	c.Timeline.Close()
	for _, want := range []string{"3.00s after the last leader", "Cannot obtain the lock: refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the timeline lacks %q:\n%s", want, out)
		}
	}
}

func TestReplicasStopWhenAsked(t *testing.T) {
	t.Parallel()
	c, _, failed := testCast(t, "replica")
	defer c.Timeline.Close()
	if err := c.Start(3); err != nil {
		t.Fatal(err)
	}
	c.Child("replica-2").Kill()
	c.Stop()
	for identity, child := range c.children {
		select {
		case <-child.Done():
		default:
			t.Errorf("%s still runs", identity)
		}
	}
	select {
	case err := <-failed:
		t.Error(err)
	default:
	}
}

func TestAReplicaThatEndsByItselfIsAFailure(t *testing.T) {
	t.Parallel()
	c, out, failed := testCast(t, "crash")
	if err := c.Start(1); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if !strings.Contains(err.Error(), "exit status 3") {
			t.Error(err)
		}
	case <-time.After(20 * time.Second):
		t.Error("nobody was told")
	}
	c.Stop()
	c.Timeline.Close()
	if !strings.Contains(out.String(), "no log record") {
		t.Errorf("the timeline lacks what the replica printed:\n%s", out)
	}
}

func TestAwait(t *testing.T) {
	t.Parallel()
	reason := errors.New("reason")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if err := Await(ctx, func() bool { return false }); !errors.Is(err, reason) {
		t.Errorf("await: %v", err)
	}
	if err := Await(ctx, func() bool { return true }); err != nil {
		t.Errorf("await what is there: %v", err)
	}
	if err := Pause(ctx, time.Hour); !errors.Is(err, reason) {
		t.Errorf("pause: %v", err)
	}
}
