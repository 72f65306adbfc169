package redistest

import "strconv"

// config is a list of redis-server arguments: names like "--maxmemory", each
// followed by its values.
type config []string

// value returns the first value of a setting, or "" if it is not there. Like
// redis-server it takes the last occurrence.
func (c config) value(name string) string {
	for i := len(c) - 2; i >= 0; i-- {
		if c[i] == name {
			return c[i+1]
		}
	}
	return ""
}

// base is what each server is given before the test's own settings.
func base(port int, dir string) config {
	return config{
		"--port", strconv.Itoa(port),
		"--bind", "127.0.0.1",
		"--dir", dir,
		"--save", "",
		"--appendonly", "no",
		// The default gathers replicas for five seconds before it serves any.
		"--repl-diskless-sync-delay", "0",
	}
}
