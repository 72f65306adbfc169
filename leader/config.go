package leader

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-logr/logr"
)

// Config describes a candidate. Name and Callbacks.OnStartedLeading are required;
// everything else has a default. New copies it; changes to it afterwards have no
// effect.
type Config struct {
	// Name is what is competed for: candidates with the same Name, KeyPrefix and Redis
	// elect one leader among them. Required; any text.
	Name string

	// Identity tells people which candidate this is. Default: hostname_pid_random.
	// Ownership never depends on it: two candidates with one identity still exclude
	// each other.
	Identity string

	// LeaseDuration is how long the lock outlives the last renewal, and so how long a
	// crashed leader blocks the others. The lease is renewed every LeaseDuration/3.
	// Default: 15 s; at least 100 ms, at most 24 h. All candidates should agree on it.
	LeaseDuration time.Duration

	// RenewDeadline is how long a term lasts without a successful renewal; the
	// difference to LeaseDuration is the time the work has for stopping before another
	// leader can start. Default: 2/3 of LeaseDuration. It has to be less than
	// LeaseDuration - LeaseDuration/100 - 2 ms and more than 1.2 times RetryPeriod, and
	// to leave room for three attempts to renew.
	RenewDeadline time.Duration

	// RetryPeriod is how long a candidate waits between two attempts to obtain the
	// lock, plus up to 20 % of jitter, and the longest pause between two attempts to
	// renew. Default: 2/15 of LeaseDuration.
	RetryPeriod time.Duration

	// DrainTimeout is how long a term may take to end once its context was cancelled:
	// for OnStartedLeading to return and OnStoppedLeading to run. After that Run
	// returns ErrDrainTimeout. Default: 4 times LeaseDuration.
	DrainTimeout time.Duration

	// Callbacks are told of changes.
	Callbacks Callbacks

	// Logger gets a line for each transition at V(0), and retries at V(1). It is called
	// on the goroutine of Run; one that blocks delays renewals, though not the end of a
	// term. Default: none.
	Logger logr.Logger

	// Observer is told of events, for metrics. Default: none.
	Observer Observer

	// Metadata is stored beside the lock, for people and for Leader. Default: none.
	Metadata map[string]string

	// FenceFloor returns the highest fencing token that the protected resource has
	// accepted, 0 if none. It is asked once in each term, before the work starts, on
	// the goroutine that will run the work, while the lease is being renewed; ctx ends
	// with the term, and after LeaseDuration. A term whose token is not higher is given
	// a higher one. This keeps tokens rising for the resource across a Redis failover
	// that lost the counter. If it fails, or has not returned after LeaseDuration, the
	// term ends without having started the work, and the candidate backs off. Default:
	// none; tokens then rise with the counter in Redis and with the Redis server's
	// clock.
	FenceFloor func(ctx context.Context) (int64, error)

	// KeyPrefix precedes the names of the Redis keys. Default: "redisleader:". It may
	// not contain braces, which belong to the hash tag that keeps the keys of one name
	// in one Cluster slot.
	KeyPrefix string
}

// Defaults of Config, those of client-go's leaderelection; what is not given keeps its
// ratio to LeaseDuration.
const (
	defaultLeaseDuration = 15 * time.Second
	defaultKeyPrefix     = "redisleader:"
	defaultDrainLeases   = 4

	minLeaseDuration = 100 * time.Millisecond
	maxLeaseDuration = 24 * time.Hour
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
		c.DrainTimeout = c.LeaseDuration * defaultDrainLeases
	}
	if c.KeyPrefix == "" {
		c.KeyPrefix = defaultKeyPrefix
	}
	if c.Identity == "" {
		c.Identity = defaultIdentity()
	}
	if c.Observer == nil {
		c.Observer = NopObserver{}
	}
	return c
}

// validate returns all that is wrong with a Config that has its defaults, joined.
func (c Config) validate() error {
	var errs []error
	reject := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("leader: Config."+format, args...))
	}
	if c.Name == "" {
		reject(`Name "" is empty: it has no default, because candidates for different things must not meet by accident`)
	}
	if c.Callbacks.OnStartedLeading == nil {
		reject("Callbacks.OnStartedLeading is nil")
	}
	if c.DrainTimeout < 0 {
		reject("DrainTimeout %v is negative", c.DrainTimeout)
	}
	if strings.ContainsAny(c.KeyPrefix, "{}") {
		reject("KeyPrefix %q contains a brace", c.KeyPrefix)
	}
	errs = append(errs, c.validateTimings())
	return errors.Join(errs...)
}
