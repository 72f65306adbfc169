package redistest

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
)

// LeastPrivilege is the name of an environment variable. If it is set, the
// clients under test may do what docs/operating.md asks operators to permit, and no
// more: [Server.Options] are for the user that its ACL line creates, and a
// client that does not say who it is has the same commands, on any key.
// [Server.Client], for the tests themselves, has all rights in any case.
const LeastPrivilege = "LEAST_PRIVILEGE"

// admin is the name and password of the user with all rights.
const admin = "admin"

// users says who may do what on a server.
type users struct {
	name     string // of the user of clients under test, "" for the default user
	password string
	config   config // that creates the users
}

// leastPrivilege are the users if the environment asks for them. Servers with a
// password of their own are left as they are.
func leastPrivilege(tb testing.TB, given config) users {
	if os.Getenv(LeastPrivilege) == "" || given.value("--requirepass") != "" {
		return users{}
	}
	tb.Helper()
	name, rules, err := DocumentedUser()
	if err != nil {
		tb.Fatal(err)
	}
	u := users{name: name}
	anybody := []string{"nopass"}
	for _, rule := range rules {
		if password, ok := strings.CutPrefix(rule, ">"); ok {
			u.password = password
			continue
		}
		if !strings.HasPrefix(rule, "~") && !strings.HasPrefix(rule, "&") {
			anybody = append(anybody, rule)
		}
	}
	anybody = append(anybody, "~*", "&*")
	if given.value("--cluster-enabled") == "yes" {
		// What docs/operating.md adds for a Cluster client.
		more := []string{"+cluster|slots", "+cluster|shards", "+command", "+readonly"}
		rules, anybody = append(rules, more...), append(anybody, more...)
	}
	u.config = slices.Concat(
		config{"--user", name}, rules,
		config{"--user", "default"}, anybody,
		config{"--user", admin, "on", ">" + admin, "~*", "&*", "+@all"},
		config{"--masteruser", admin, "--masterauth", admin})
	return u
}

// identify makes options those of the user of clients under test.
func (u users) identify(options *redis.Options) {
	if u.name != "" {
		options.Username, options.Password = u.name, u.password
	}
}

// promote makes options those of the user with all rights.
func (u users) promote(options *redis.Options) {
	if u.name != "" {
		options.Username, options.Password = admin, admin
	}
}

// DocumentedUser returns the name and the rules of the user that
// docs/operating.md tells operators to create.
func DocumentedUser() (name string, rules []string, err error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", nil, err
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", nil, fmt.Errorf("redistest: no go.mod here or above")
		}
		dir = filepath.Dir(dir)
	}
	document, err := os.ReadFile(filepath.Join(dir, "docs", "operating.md"))
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(string(document)) {
		if after, ok := strings.CutPrefix(strings.TrimSpace(line), "ACL SETUSER "); ok {
			words := strings.Fields(after)
			return words[0], words[1:], nil
		}
	}
	return "", nil, fmt.Errorf("redistest: no line ACL SETUSER in docs/operating.md")
}
