package demo

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// actAs in the environment makes the test binary a replica.
const actAs = "DEMO_TEST_ACT_AS"

func TestMain(m *testing.M) {
	as := os.Getenv(actAs)
	if as == "" {
		goleak.VerifyTestMain(m)
	}
	Start(Show{})
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	_, _ = os.Stderr.WriteString(`{"msg":"Listening","address":"127.0.0.1:1"}` + "\n")
	switch as {
	case "crash":
		_, _ = os.Stderr.WriteString("panic: no log record\n")
		os.Exit(3)
	case "fail when asked":
		<-ctx.Done()
		os.Exit(4)
	default: // waits until it is told to end, or its parent is gone
		<-ctx.Done()
	}
}

// testCluster is a cluster whose timeline goes to the builder once it is closed. What it
// fails with goes to the channel.
func testCluster(t *testing.T, as string) (*Cluster, *strings.Builder, chan error) {
	t.Helper()
	var out strings.Builder
	failed := make(chan error, 3)
	return &Cluster{
		timeline: &timeline{out: &out},
		env:      []string{actAs + "=" + as, "DEMO=replica"},
		fail:     func(err error) { failed <- err },
		replicas: make(map[string]*replica),
		rejected: make(map[int64]int),
		rounds:   make(map[int64]int),
	}, &out, failed
}

func startTestReplica(t *testing.T, c *Cluster, identity string) *replica {
	t.Helper()
	if err := c.start(identity); err != nil {
		t.Fatal(err)
	}
	r := c.replicas[identity]
	if err := Await(t.Context(), func() bool { return r.address.Load() != nil }); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTermsAreReadFromTheLog(t *testing.T) {
	t.Parallel()
	c, out, _ := testCluster(t, "")
	c.show.FreezeAt = "About to write"
	a, b := &replica{identity: "a"}, &replica{identity: "b"}
	if c.last().open() && c.last().Fence != 0 {
		t.Error("somebody leads before anybody did")
	}
	c.heard(a, []byte(`{"time":"2023-11-14T22:13:20Z","level":"INFO","msg":"Became leader","fence":9007199254740990}`))
	c.heard(a, []byte(`{"time":"2023-11-14T22:13:21Z","level":"DEBUG","msg":"About to write","fence":9007199254740990}`))
	c.markEnded("a", at(2), "frozen")
	c.heard(b, []byte(`{"time":"2023-11-14T22:13:25Z","level":"INFO","msg":"Became leader","fence":9007199254740991}`))
	// What a frozen process says later does not move the end of its term.
	c.heard(a, []byte(`{"time":"2023-11-14T22:13:26Z","level":"INFO","msg":"Term ended","fence":9007199254740990,"reason":"expired"}`))
	c.heard(a, []byte(`{"time":"2023-11-14T22:13:26Z","level":"WARN","msg":"Write rejected","fence":9007199254740990,"error":"too low"}`))
	if next, err := c.Leader(t.Context(), c.terms[0]); err != nil || next.Replica != "b" || next.Fence != 9007199254740991 {
		t.Errorf("the next leader: %+v, %v", next, err)
	}
	c.expect("b", "hand-over")
	c.heard(b, []byte(`{"time":"2023-11-14T22:13:29Z","level":"INFO","msg":"Term ended","fence":9007199254740991,"reason":"stopped"}`))
	c.begin(Term{Replica: "a", Fence: 3, Started: at(10)})
	c.markEnded("a", at(11), "unknown")
	for i, want := range []Term{
		{"a", 9007199254740990, at(0), at(2), "frozen"},
		{"b", 9007199254740991, at(5), at(9), "hand-over"},
		{"a", 3, at(10), at(11), "unknown"},
	} {
		got := c.terms[i]
		if got.Replica != want.Replica || got.Fence != want.Fence || got.Reason != want.Reason ||
			!got.Started.Equal(want.Started) || !got.Ended.Equal(want.Ended) {
			t.Errorf("term %d: %+v, want %+v", i, got, want)
		}
	}
	if c.rounds[9007199254740990] != 1 || c.rejected[9007199254740990] != 1 {
		t.Errorf("counts: %v, %v", c.rounds, c.rejected)
	}
	c.heard(b, []byte(`{"level":"ERROR","msg":"Cannot obtain the lock","err":"refused"}`))
	c.timeline.close()
	for _, want := range []string{"3.00s after the last leader", "its late write is REJECTED: too low", "Cannot obtain the lock: refused"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the timeline lacks %q:\n%s", want, out)
		}
	}
}

// Two logs come through two pipes: what is read first need not have happened first.
func TestTermsAreInTheOrderOfTheirStart(t *testing.T) {
	t.Parallel()
	var c Cluster
	c.begin(Term{Replica: "b", Fence: 2, Started: at(3)})
	c.begin(Term{Replica: "a", Fence: 1, Started: at(1)})
	if c.terms[0].Replica != "a" || c.last().Replica != "b" {
		t.Errorf("terms: %+v", c.terms)
	}
}

func TestReplicasStopWhenAsked(t *testing.T) {
	t.Parallel()
	c, _, failed := testCluster(t, "replica")
	for _, identity := range []string{"replica-1", "replica-2", "replica-3"} {
		startTestReplica(t, c, identity)
	}
	c.replicas["replica-2"].kill()
	c.stop()
	for identity, r := range c.replicas {
		select {
		case <-r.done:
		default:
			t.Errorf("%s still runs", identity)
		}
	}
	c.timeline.close()
	select {
	case err := <-failed:
		t.Error(err)
	default:
	}
}

func TestAReplicaThatFailsEndsTheShow(t *testing.T) {
	t.Parallel()
	for as, want := range map[string]string{"crash": "exit status 3", "fail when asked": "exit status 4"} {
		c, out, failed := testCluster(t, as)
		if r := startTestReplica(t, c, "replica-1"); as == "fail when asked" {
			r.ask()
		}
		select {
		case err := <-failed:
			if !strings.Contains(err.Error(), want) {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Errorf("%s: nobody was told", as)
		}
		c.stop()
		c.timeline.close()
		if as == "crash" && !strings.Contains(out.String(), "no log record") {
			t.Errorf("the timeline lacks what the replica printed:\n%s", out)
		}
	}
}

// On every system: what the show holds is closed when it ends, however it ends.
func TestAReplicaEndsWithItsShow(t *testing.T) {
	t.Parallel()
	c, _, failed := testCluster(t, "replica")
	r := startTestReplica(t, c, "replica-1")
	_ = r.stdin.Close()
	r.wait()
	c.timeline.close()
	if err := <-failed; !strings.Contains(err.Error(), "exit status 1") {
		t.Error(err)
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
}

func TestOptions(t *testing.T) {
	t.Setenv("REDIS_URL", "redis://u:secret@h/0")
	show := Show{Name: "example", Duration: time.Minute}
	opts, err := parseOptions(show, []string{"-for", "2s"}, io.Discard)
	if err != nil || opts != (options{"redis://u:secret@h/0", 2 * time.Second}) {
		t.Errorf("%+v, %v", opts, err)
	}
	opts, err = parseOptions(show, []string{"-redis", "redis://other"}, io.Discard)
	if err != nil || opts != (options{"redis://other", time.Minute}) {
		t.Errorf("%+v, %v", opts, err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-h"}, "-redis URL"}, {[]string{"more"}, `"more"`}, {[]string{"-for", "soon"}, `"soon"`}, {[]string{"-colour"}, "-colour"},
	} {
		var out strings.Builder
		if _, err := parseOptions(show, c.args, &out); err == nil || !strings.Contains(out.String(), c.want) {
			t.Errorf("%v: %v, printed %q", c.args, err, out.String())
		}
		if strings.Contains(out.String(), "secret") {
			t.Errorf("%v: the password is shown", c.args)
		}
	}
	if _, err := parseOptions(Show{}, []string{"-for", "2s"}, io.Discard); err == nil {
		t.Error("a show without a duration has -for")
	}
}
