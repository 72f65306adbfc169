package redistest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"
)

// LeastPrivilege is the name of an environment variable. If it is set, the clients under
// test have the permissions that docs/operating.md asks operators for, and no others:
// [Server.Options] are for the user that its ACL line creates, and a client that does
// not authenticate may use the same commands, on any key. [Server.Client], which is for
// the tests themselves, always has all rights.
const LeastPrivilege = "LEAST_PRIVILEGE"

// admin is the name and password of the user that has all rights.
const admin = "admin"

// users says who may do what on a server.
type users struct {
	name     string // of the user of the clients under test; "" for the default user
	password string
	config   config // that creates the users
}

// leastPrivilege returns the users that the environment asks for. A server with a
// password of its own gets none.
func leastPrivilege(given config) (users, error) {
	if os.Getenv(LeastPrivilege) == "" || given.value("--requirepass") != "" {
		return users{}, nil
	}
	name, rules, err := DocumentedUser()
	if err != nil {
		return users{}, err
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
	return u, nil
}

// restrict gives options the user of the clients under test.
func (u users) restrict(options *redis.Options) {
	if u.name != "" {
		options.Username, options.Password = u.name, u.password
	}
}

// permitAll gives options the user that has all rights.
func (u users) permitAll(options *redis.Options) {
	if u.name != "" {
		options.Username, options.Password = admin, admin
	}
}

// DocumentedUser returns the name and the rules of the user that docs/operating.md tells
// operators to create.
func DocumentedUser() (name string, rules []string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", nil, err
	}
	document, err := os.ReadFile(filepath.Join(root, "docs", "operating.md"))
	if err != nil {
		return "", nil, err
	}
	for line := range strings.Lines(string(document)) {
		if after, ok := strings.CutPrefix(strings.TrimSpace(line), "ACL SETUSER "); ok {
			words := strings.Fields(after)
			return words[0], words[1:], nil
		}
	}
	return "", nil, errors.New("redistest: no line ACL SETUSER in docs/operating.md")
}

// moduleRoot returns the nearest directory, from the working directory upwards, that has
// a go.mod.
func moduleRoot() (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for dir := wd; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("redistest: no go.mod in %s or above", wd)
		}
	}
}
