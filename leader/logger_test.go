package leader

import (
	"context"
	"log"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"
)

// textBuffer is what a slog.Handler writes to.
type textBuffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *textBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// with are the lines that contain all of the texts.
func (b *textBuffer) with(texts ...string) []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := logLines{lines: strings.Split(b.text.String(), "\n")}
	return lines.with(texts...)
}

// defaultLog makes slog.Default write to a buffer for one test, which cannot be
// parallel.
func defaultLog(t *testing.T) *textBuffer {
	t.Helper()
	before, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		slog.SetDefault(before)
		log.SetOutput(writer) // which SetDefault changes, for the first time
		log.SetFlags(flags)
	})
	b := &textBuffer{}
	slog.SetDefault(slog.New(slog.NewTextHandler(b, nil)))
	return b
}

func withoutLogger(cfg *Config, _ *replica) { cfg.Logger = logr.Logger{} }

// N1: an elector that was given no Logger is not silent.
func TestN1_DefaultLoggerIsThatOfSlog(t *testing.T) {
	logged := defaultLog(t)
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", withoutLogger).start(t)
		await(t, 0, "a leads", a.atWork)
		server.setFault(func(string) memFault { return memFault{err: errDown} })
		time.Sleep(testLease)
		server.setFault(nil)
		a.join()
	})
	for _, texts := range [][]string{
		{"level=INFO", `msg="Became leader"`, "name=test", "identity=a", "fence=1"},
		{"level=ERROR", `msg="Cannot renew the lease"`, "identity=a", `err="connection refused"`},
		{"level=INFO", `msg="Term ended"`, "identity=a", "reason=expired"},
	} {
		if lines := logged.with(texts...); len(lines) != 1 {
			t.Errorf("%d lines with %q:\n%s", len(lines), texts, logged.text.String())
		}
	}
	if lines := logged.with("times="); len(lines) != 0 {
		t.Errorf("retries are logged at the default level: %q", lines)
	}
}

// N1: a server with another password was the case in which a newcomer saw nothing.
func TestN1_WrongPasswordIsLogged(t *testing.T) {
	logged := defaultLog(t)
	env := newEnvironment(t, "--requirepass", "secret")
	a := env.start(env.beside("a", withoutLogger, noRetries, func(o *redis.Options) { o.Username, o.Password = "", "wrong" }))
	env.await("a line says why", func() bool { return len(logged.with("level=ERROR", "Cannot obtain the lock", "WRONGPASS")) == 1 })
	a.join()
}

// N1: so was a key of somebody else's in the place of the lock.
func TestN1_ForeignKeyIsLogged(t *testing.T) {
	logged := defaultLog(t)
	env := newEnvironment(t)
	env.do("SET", env.key, "theirs")
	a := env.start(env.beside("a", withoutLogger))
	env.await("a line says why", func() bool { return len(logged.with("level=ERROR", "key="+env.key, "holds=string")) == 1 })
	a.join()
}

// Silence can be had, by asking for it.
func TestN1_SilenceHasToBeAskedFor(t *testing.T) {
	logged := defaultLog(t)
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = logr.FromSlogHandler(slog.DiscardHandler)
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		a.join()
	})
	if lines := logged.with("test"); len(lines) != 0 {
		t.Errorf("logged %q", lines)
	}
}

// recordLog makes a Logger that writes its lines into the record of the replica.
func (r *replica) recordLog(cfg *Config) {
	cfg.Logger = logr.New(messages{record: r.record})
}

// messages is a sink that keeps nothing but the message. It is slow, so that what need
// not wait for it comes first.
type messages struct {
	logr.LogSink
	record func(string)
}

func (messages) Init(logr.RuntimeInfo)                     {}
func (messages) Enabled(level int) bool                    { return level == 0 }
func (m messages) WithValues(...any) logr.LogSink          { return m }
func (m messages) Error(_ error, message string, _ ...any) { m.Info(0, message) }
func (m messages) Info(_ int, message string, _ ...any) {
	time.Sleep(time.Millisecond)
	m.record("log: " + message)
}

// N12: what is read in the log comes in the order in which it happens. "Term ended" is
// not the end of everything: OnStoppedLeading follows, and then the release.
func TestN12_OrderOfALifeInTheLog(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*memServer, *replica)
		want []string // after the beginning
	}{
		"Stopped": {func(_ *memServer, a *replica) { a.stop() },
			[]string{"ended stopped leader=false ctx=false", "log: Term ended", "stopped, lock held=true", "log: Lock released"}},
		"Resigned": {func(_ *memServer, a *replica) { _ = a.Resign(context.Background()) },
			[]string{"ended resigned leader=false ctx=false", "log: Term ended", "stopped, lock held=true", "log: Lock released"}},
		"Failed": {func(_ *memServer, a *replica) { a.lastTerm().Fail(errBoom) },
			[]string{"ended failed leader=false ctx=true", "log: Term ended", "stopped, lock held=true", "log: Lock released"}},
		"Frozen": {func(_ *memServer, a *replica) { a.suspend(a.timing.deadline) },
			[]string{"ended expired leader=false ctx=true", "log: Term ended", "stopped, lock held=true", "log: Lock released"}},
		"Lost": {func(s *memServer, a *replica) { s.steal(a.key, time.Hour) },
			[]string{"ended lost leader=false ctx=false", "log: Term ended", "stopped, lock held=false"}},
	} {
		t.Run(name, func(t *testing.T) {
			for range 20 { // the callbacks run on a goroutine of their own
				bubble(t, func(t *testing.T, server *memServer) {
					a := newReplica(t, server, "a", func(cfg *Config, r *replica) { r.recordLog(cfg) }).start(t)
					await(t, 0, "a leads", a.atWork)
					c.end(server, a)
					await(t, testLease, "OnStoppedLeading", func() bool { return a.stops() == 1 })
					time.Sleep(10 * time.Millisecond) // less than a pause between two terms
					events := a.recorded()
					want := append([]string{"began", "log: Became leader", "started"}, c.want...)
					if got := withoutReturn(events); !slices.Equal(got, want) {
						t.Fatalf("events %q, want %q", got, want)
					}
					a.join()
				})
			}
		})
	}
}

// withoutReturn leaves out that the work has returned, which it may do before the end
// of its term is logged or after.
func withoutReturn(events []string) []string {
	return slices.DeleteFunc(events, func(e string) bool { return e == "returned" })
}

// A lock that was not released is not said to be.
func TestN12_NothingIsReleasedInADrainTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		var log logLines
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.Logger = log.logger(0)
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
		}).start(t)
		await(t, 0, "a leads", a.atWork)
		a.join()
		if len(log.with(`"Term ended"`)) != 1 || len(log.with("Lock released")) != 0 || len(log.with("Leaving the work running")) != 1 {
			t.Errorf("logged %q", log.all())
		}
		close(finish)
	})
}
