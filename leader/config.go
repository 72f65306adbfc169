package leader

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/go-logr/logr"
)

// Config describes a candidate. Name and Callbacks.OnStartedLeading are required;
// everything else has a default. New copies it: changes afterwards have no effect.
// Durations are time.Duration values, so a number without a unit means nanoseconds.
type Config struct {
	// Name is the name of the election: candidates with the same Name, KeyPrefix and
	// Redis elect one leader among them. Any text. Required.
	Name string

	// Identity tells people which candidate this is. Ownership never depends on it: two
	// candidates with the same identity still exclude each other. Default:
	// hostname_pid_random.
	Identity string

	// LeaseDuration is how long the lock outlives the last renewal, and so how long a
	// crashed leader blocks the others. The lease is renewed every LeaseDuration/3. All
	// candidates of an election should agree on it. At least 100 ms, at most 24 h.
	// Default: 15 s.
	LeaseDuration time.Duration

	// RenewDeadline is how long a term lasts without a successful renewal. The
	// difference to LeaseDuration is the time that the work has for stopping before
	// another leader can start. It must be less than LeaseDuration -
	// redislock.Margin(LeaseDuration) and more than 1.2 times RetryPeriod, and leave
	// room for three attempts to renew. Default: 2/3 of LeaseDuration.
	RenewDeadline time.Duration

	// RetryPeriod is how long a candidate waits between two attempts to obtain the
	// lock, plus up to 20 % of jitter, and the longest pause between two attempts to
	// renew. At least 5 ms. Default: 2/15 of LeaseDuration.
	RetryPeriod time.Duration

	// DrainTimeout is how long the callbacks of a term have to return once its context
	// is done: OnStartedLeading, then OnStoppedLeading. After that Run returns
	// ErrDrainTimeout. The default lets a clean shutdown fit into the 30 s that
	// Kubernetes grants. At least 1 ms. Default: 20 s.
	DrainTimeout time.Duration

	// Callbacks do the work and hear of changes.
	Callbacks Callbacks

	// Logger gets a line for each transition at V(0), and retries at V(1). It is called
	// on the goroutine of Run: one that blocks delays renewals, though not the end of a
	// term. For silence pass logr.FromSlogHandler(slog.DiscardHandler); logr.Discard()
	// is the zero Logger and so means the default. Default: the handler that
	// slog.Default() has when New is called.
	Logger logr.Logger

	// Observer is told of events, for metrics. Default: none.
	Observer Observer

	// Metadata is stored beside the lock, for people and for Elector.Leader. Default:
	// none.
	Metadata map[string]string

	// FenceFloor returns the highest fencing token that the protected resource has
	// accepted, 0 if none. It is called once in each term, before the work starts and
	// while the lease is renewed, on the goroutine that will run the work. A term whose
	// token is not higher is given a higher one, so that the tokens that the resource
	// sees rise even across a Redis failover that lost the counter. ctx ends with the
	// term, and after LeaseDuration. If FenceFloor fails, or has not returned by then,
	// the term ends without having started the work, and the candidate backs off.
	// Default: none; tokens then rise with the counter in Redis and with the Redis
	// server's clock.
	FenceFloor func(ctx context.Context) (int64, error)

	// KeyPrefix precedes the names of the Redis keys; see LockKey. It may not contain
	// braces, which belong to the hash tag that keeps the keys of one name in one
	// Cluster slot. Default: DefaultKeyPrefix.
	KeyPrefix string
}

// Defaults of Config. The timings are those of client-go's leaderelection; what is not
// given keeps its ratio to LeaseDuration.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultDrainTimeout  = 20 * time.Second

	minLeaseDuration = 100 * time.Millisecond
	maxLeaseDuration = 24 * time.Hour
	minDrainTimeout  = time.Millisecond
)

func (c Config) withDefaults() Config {
	if c.LeaseDuration == 0 {
		c.LeaseDuration = defaultLeaseDuration
	}
	if c.RenewDeadline == 0 {
		c.RenewDeadline = c.LeaseDuration * 2 / 3
	}
	if c.RetryPeriod == 0 {
		c.RetryPeriod = c.LeaseDuration * 2 / 15
	}
	if c.DrainTimeout == 0 {
		c.DrainTimeout = defaultDrainTimeout
	}
	if c.KeyPrefix == "" {
		c.KeyPrefix = DefaultKeyPrefix
	}
	if c.Identity == "" {
		c.Identity = defaultIdentity()
	}
	if c.Observer == nil {
		c.Observer = NopObserver{}
	}
	if c.Logger.GetSink() == nil {
		c.Logger = logr.FromSlogHandler(slog.Default().Handler())
	}
	return c
}

// validate returns all that is wrong with a Config as the user gave it, joined.
func (c Config) validate() error {
	v := violations{}
	if c.Name == "" {
		v.add(`Name "" is empty: it has no default, because different elections must not share one by accident`)
	}
	if c.Callbacks.OnStartedLeading == nil {
		v.add("Callbacks.OnStartedLeading is nil")
	}
	drain := given{"DrainTimeout", c.DrainTimeout, c.DrainTimeout == 0}
	switch {
	case drain.isDefault:
	case drain.d < 0:
		v.add("%v is negative", drain)
	case drain.d < minDrainTimeout:
		v.add("%v is less than %v%s", drain, minDrainTimeout, drain.unitHint())
	}
	if strings.ContainsAny(c.KeyPrefix, "{}") {
		v.add("KeyPrefix %q contains a brace", c.KeyPrefix)
	}
	c.validateTimings(&v)
	return errors.Join(v.errs...)
}

// violations collects what is wrong with a Config.
type violations struct{ errs []error }

func (v *violations) add(format string, args ...any) {
	v.errs = append(v.errs, fmt.Errorf("leader: Config."+format, args...))
}
