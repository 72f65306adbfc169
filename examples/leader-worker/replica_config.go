package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// replicaConfig is what the flags and the environment of a replica say.
type replicaConfig struct {
	redis      *redis.Options
	resource   string // URL of the guarded resource
	name       string
	identity   string
	lease      time.Duration
	listen     string
	watchStdin bool
}

// parseReplica reads the command line of a replica. An error has been printed to errOut.
func parseReplica(args []string, errOut io.Writer) (replicaConfig, error) {
	var cfg replicaConfig
	flags := newFlagSet("leader-worker -replica", errOut)
	flags.Bool("replica", true, "run one replica")
	// A flag's value shows in the list of processes, and the URL may hold a password:
	// REDIS_URL is the better place for it.
	redisURL := flags.String("redis", "", "`URL` of Redis; default $REDIS_URL, or else redis://127.0.0.1:6379/0")
	flags.StringVar(&cfg.resource, "resource", "", "`URL` of the guarded resource; required")
	flags.StringVar(&cfg.name, "name", "leader-worker", "what the replicas compete for")
	flags.StringVar(&cfg.identity, "identity", "", "who this replica is, for people; default host_pid_random")
	flags.DurationVar(&cfg.lease, "lease", 15*time.Second, "how long a leader that has died keeps the others waiting")
	flags.StringVar(&cfg.listen, "listen", ":8080", "`address` for /metrics, /healthz, /readyz, /leader and a status page at /")
	flags.BoolVar(&cfg.watchStdin, "stop-at-eof", false, "stop when standard input is closed: never outlive the parent")
	if err := parse(flags, args); err != nil {
		return cfg, err
	}
	var errs [2]error
	cfg.redis, errs[0] = parseRedisURL(cmp.Or(*redisURL, os.Getenv("REDIS_URL"), "redis://127.0.0.1:6379/0"))
	errs[1] = checkResourceURL(cfg.resource)
	if err := errors.Join(errs[:]...); err != nil {
		return cfg, report(flags, err)
	}
	return cfg, nil
}

// parseRedisURL returns the options for a client that is fit for locks: without
// ContextTimeoutEnabled a deadline would not interrupt a call that hangs.
func parseRedisURL(text string) (*redis.Options, error) {
	opts, err := redis.ParseURL(text)
	if err != nil {
		return nil, fmt.Errorf("-redis (or REDIS_URL) %q: %w", redact(text), withoutURL(err))
	}
	opts.ContextTimeoutEnabled = true
	return opts, nil
}

func checkResourceURL(text string) error {
	if text == "" {
		return errors.New("-resource is missing: the URL of the guarded resource that the leader writes to, " +
			"such as http://127.0.0.1:9000 after leader-worker -serve-resource 127.0.0.1:9000")
	}
	u, err := url.Parse(text)
	if err != nil {
		return fmt.Errorf("-resource %q: %w", redact(text), withoutURL(err))
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return fmt.Errorf("-resource %q: not the URL of a host, such as http://127.0.0.1:9000", redact(text))
	}
	return nil
}

// redact hides user and password in a URL, even in one that does not parse.
func redact(text string) string {
	scheme, rest, found := strings.Cut(text, "://")
	if at := strings.LastIndex(rest, "@"); found && at >= 0 {
		return scheme + "://xxxxx" + rest[at:]
	}
	return text
}

// withoutURL takes the text of the URL, and with it the password, out of an error of
// package url.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
