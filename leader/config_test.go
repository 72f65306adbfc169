package leader

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redisleader/redisleader/redislock"
)

// workingConfig has the fields that are required.
func workingConfig() Config {
	return Config{Name: "test", Callbacks: Callbacks{OnStartedLeading: func(context.Context, Term) {}}}
}

func TestDefaults(t *testing.T) {
	const ms = time.Millisecond
	type times struct{ lease, deadline, retry, drain time.Duration }
	for _, c := range []struct {
		name        string
		given, want times
	}{
		{"Nothing", times{}, times{15 * time.Second, 10 * time.Second, 2 * time.Second, 20 * time.Second}},
		{"LeaseAlone", times{lease: 1500 * ms}, times{1500 * ms, 1000 * ms, 200 * ms, 20 * time.Second}},
		{"LongLease", times{lease: time.Hour}, times{time.Hour, 40 * time.Minute, 8 * time.Minute, 20 * time.Second}},
		{"DeadlineAlone", times{deadline: 12 * time.Second}, times{15 * time.Second, 12 * time.Second, 2 * time.Second, 20 * time.Second}},
		{"Everything", times{9 * time.Second, 7 * time.Second, time.Second, 5 * time.Second}, times{9 * time.Second, 7 * time.Second, time.Second, 5 * time.Second}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := workingConfig()
			cfg.LeaseDuration, cfg.RenewDeadline, cfg.RetryPeriod, cfg.DrainTimeout = c.given.lease, c.given.deadline, c.given.retry, c.given.drain
			err := cfg.validate()
			cfg = cfg.withDefaults()
			if got := (times{cfg.LeaseDuration, cfg.RenewDeadline, cfg.RetryPeriod, cfg.DrainTimeout}); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDefaultIdentity(t *testing.T) {
	cfg, other := workingConfig().withDefaults(), workingConfig().withDefaults()
	host, _ := os.Hostname()
	if want := fmt.Sprintf("%s_%d_", host, os.Getpid()); !strings.HasPrefix(cfg.Identity, want) || len(cfg.Identity) < len(want)+8 {
		t.Errorf("identity %q, want %q and something random", cfg.Identity, want)
	}
	if cfg.Identity == other.Identity {
		t.Errorf("two candidates are %q", cfg.Identity)
	}
	if cfg.KeyPrefix != "redisleader:" || cfg.Observer == nil {
		t.Errorf("prefix %q, observer %v", cfg.KeyPrefix, cfg.Observer)
	}
}

func TestEachViolationIsNamedWithItsNumbers(t *testing.T) {
	client := redis.NewClient(&redis.Options{}) // never used
	defer func() { _ = client.Close() }()
	for name, c := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"NoName":        {func(c *Config) { c.Name = "" }, []string{`Config.Name ""`}},
		"NoWork":        {func(c *Config) { c.Callbacks.OnStartedLeading = nil }, []string{"Config.Callbacks.OnStartedLeading"}},
		"Brace":         {func(c *Config) { c.KeyPrefix = "my{app}:" }, []string{`Config.KeyPrefix "my{app}:"`}},
		"NegativeDrain": {func(c *Config) { c.DrainTimeout = -time.Second }, []string{"Config.DrainTimeout -1s"}},
		"ShortLease":    {func(c *Config) { c.LeaseDuration = 99 * time.Millisecond }, []string{"Config.LeaseDuration 99ms", "100ms"}},
		"NegativeLease": {func(c *Config) { c.LeaseDuration = -time.Second }, []string{"Config.LeaseDuration -1s", "100ms"}},
		"LongLease":     {func(c *Config) { c.LeaseDuration = 25 * time.Hour }, []string{"Config.LeaseDuration 25h0m0s", "24h0m0s"}},
		"NegativeRetry": {func(c *Config) { c.RetryPeriod = -time.Second }, []string{"Config.RetryPeriod -1s"}},
		"DeadlineNotBelowLease": {func(c *Config) { c.LeaseDuration, c.RenewDeadline = 10*time.Second, 10*time.Second },
			[]string{"Config.RenewDeadline 10s", "9.898s", "LeaseDuration 10s"}},
		"DeadlineWithinTheMargin": {func(c *Config) { c.LeaseDuration, c.RenewDeadline = 10*time.Second, 9898*time.Millisecond },
			[]string{"Config.RenewDeadline 9.898s", "9.898s", "LeaseDuration 10s"}},
		"DeadlineNotAboveRetry": {func(c *Config) { c.RenewDeadline, c.RetryPeriod = 6*time.Second, 5*time.Second },
			[]string{"Config.RenewDeadline 6s", "RetryPeriod 5s", "1.2"}},
		"NoRoomForThreeAttempts": {func(c *Config) { c.RenewDeadline, c.RetryPeriod = 5010*time.Millisecond, time.Second },
			[]string{"Config.RenewDeadline 5.01s", "LeaseDuration/3 = 5s", "10ms", "5ms", "three attempts"}},
		"DeadlineBeforeTheFirstRenewal": {func(c *Config) { c.RenewDeadline, c.RetryPeriod = 4*time.Second, time.Second },
			[]string{"Config.RenewDeadline 4s", "LeaseDuration/3 = 5s"}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := workingConfig()
			c.change(&cfg)
			e, err := New(redislock.New(client), cfg)
			if err == nil || e != nil {
				t.Fatalf("New = %v, %v", e, err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("error lacks %q:\n%v", want, err)
				}
			}
			if lines := strings.Count(err.Error(), "\n") + 1; lines > 1 {
				t.Errorf("%d lines about one mistake:\n%v", lines, err)
			}
		})
	}
}

func TestNewReportsEveryViolation(t *testing.T) {
	_, err := New(nil, Config{LeaseDuration: time.Millisecond, RenewDeadline: -time.Hour, RetryPeriod: -time.Second, DrainTimeout: -1, KeyPrefix: "a{"})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"locker is nil", "Config.Name", "OnStartedLeading", "LeaseDuration 1ms", "RenewDeadline -1h0m0s", "RetryPeriod -1s", "DrainTimeout -1ns", `KeyPrefix "a{"`} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error lacks %q:\n%v", want, err)
		}
	}
}

// N10: the error names the cause, not what follows from it, and says where a value is
// not the user's.
func TestN10_ErrorsBlameWhatWasGiven(t *testing.T) {
	const second = time.Second
	for name, c := range map[string]struct {
		lease, deadline, retry, drain time.Duration
		want                          []string // one for each line, whole
	}{
		"LeaseWithoutUnit": {lease: 60,
			want: []string{"LeaseDuration 60ns is not between 100ms and 24h0m0s (a number without a unit is nanoseconds: did you mean 60*time.Second?)"}},
		"LeaseInMilliseconds": {lease: 15_000,
			want: []string{"LeaseDuration 15µs is not between 100ms and 24h0m0s (a number without a unit is nanoseconds: did you mean 15000*time.Millisecond?)"}},
		"NegativeLease": {lease: -second,
			want: []string{"LeaseDuration -1s is not between 100ms and 24h0m0s"}},
		"AllWithoutUnit": {lease: 15, deadline: 10, retry: 2, drain: 20, want: []string{
			"DrainTimeout 20ns is less than 1ms (a number without a unit is nanoseconds: did you mean 20*time.Second?)",
			"LeaseDuration 15ns is not between 100ms and 24h0m0s (a number without a unit is nanoseconds: did you mean 15*time.Second?)",
			"RenewDeadline 10ns is less than 5ms (a number without a unit is nanoseconds: did you mean 10*time.Second?)",
			"RetryPeriod 2ns is less than 5ms (a number without a unit is nanoseconds: did you mean 2*time.Second?)",
		}},
		"RetryWithoutUnit": {retry: 2,
			want: []string{"RetryPeriod 2ns is less than 5ms (a number without a unit is nanoseconds: did you mean 2*time.Second?)"}},
		"DeadlineAboveTheDefaultLease": {deadline: 20 * second,
			want: []string{"RenewDeadline 20s is not less than 14.848s, which is LeaseDuration 15s (default) less the margin for clock drift"}},
		"RetryAboveTheDefaultDeadline": {retry: 9 * second,
			want: []string{"RenewDeadline 10s (default) is not more than 10.8s, which is 1.2 times RetryPeriod 9s"}},
		"DeadlineBelowTheDefaultRetry": {deadline: 2 * second,
			want: []string{"RenewDeadline 2s is not more than 2.4s, which is 1.2 times RetryPeriod 2s (default)"}},
		"LeaseShorterThanTheRetry": {lease: 3 * second, retry: 2 * second,
			want: []string{"RenewDeadline 2s (default) is not more than 2.4s, which is 1.2 times RetryPeriod 2s"}},
		"WrongLeaseAndRetry": {lease: 25 * time.Hour, retry: -second, want: []string{
			"LeaseDuration 25h0m0s is not between 100ms and 24h0m0s",
			"RetryPeriod -1s is less than 5ms",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := workingConfig()
			cfg.LeaseDuration, cfg.RenewDeadline, cfg.RetryPeriod, cfg.DrainTimeout = c.lease, c.deadline, c.retry, c.drain
			err := cfg.validate()
			want := "leader: Config." + strings.Join(c.want, "\nleader: Config.")
			if err == nil || err.Error() != want {
				t.Errorf("error\n%v, want\n%s", err, want)
			}
		})
	}
}

// The shortest durations that New accepts.
func TestLeastDurations(t *testing.T) {
	cfg := workingConfig()
	cfg.LeaseDuration, cfg.RetryPeriod, cfg.DrainTimeout = 100*time.Millisecond, 5*time.Millisecond, time.Millisecond
	if err := cfg.validate(); err != nil {
		t.Error(err)
	}
}

// The schedule keeps its promise for all timings that New accepts.
func TestTwoMoreAttemptsFitBeforeTheDeadline(t *testing.T) {
	accepted := 0
	for lease := 100 * time.Millisecond; lease <= maxLeaseDuration; lease = lease * 3 / 2 {
		for deadline := range 20 {
			for retry := range 10 {
				cfg := workingConfig()
				cfg.LeaseDuration = lease
				cfg.RenewDeadline = lease * time.Duration(deadline+1) / 20
				cfg.RetryPeriod = lease * time.Duration(retry+1) / 20
				if cfg.validate() != nil {
					continue
				}
				accepted++
				tm := newTiming(cfg)
				if end := tm.renew + 3*tm.attempt + 2*tm.pause; end > tm.deadline || tm.pause > tm.retry || tm.attempt < minAttempt || tm.deadline >= lease-redislock.Margin(lease) {
					t.Fatalf("%+v: three attempts end at %v", tm, end)
				}
			}
		}
	}
	if accepted < 100 {
		t.Errorf("only %d timings were accepted", accepted)
	}
}

func TestWaitsStayInTheirBounds(t *testing.T) {
	tm := newTiming(workingConfig().withDefaults())
	for range 1000 {
		for what, c := range map[string]struct{ got, low, high time.Duration }{
			"poll":        {tm.poll(), tm.retry, tm.retry * 12 / 10},
			"recontend":   {tm.recontend(), tm.retry / 2, tm.retry},
			"standAside":  {tm.standAside(), 2 * tm.retry, 3 * tm.retry},
			"afterExpiry": {afterExpiry(time.Second), time.Second + time.Millisecond, time.Second + time.Millisecond + expirySpread},
			"backOff 1":   {tm.backOff(1), tm.retry, tm.retry * 12 / 10},
			"backOff 3":   {tm.backOff(3), 4 * tm.retry, 4 * tm.retry * 12 / 10},
			"backOff 99":  {tm.backOff(99), 2 * tm.lease, 2 * tm.lease * 12 / 10},
		} {
			if c.got < c.low || c.got > c.high {
				t.Fatalf("%s waits %v, want %v to %v", what, c.got, c.low, c.high)
			}
		}
	}
}

func TestNewCopiesTheConfig(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		metadata := map[string]string{"zone": "z1"}
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) { cfg.Metadata = metadata })
		metadata["zone"] = "changed"
		a.start(t)
		await(t, 0, "a leads", a.IsLeader)
		if leader, _ := a.Leader(); leader.Metadata["zone"] != "z1" {
			t.Errorf("Metadata = %v, want what New was given", leader.Metadata)
		}
	})
}
