package redistest

import "strconv"

// config is a list of redis-server arguments: names like "--maxmemory", each followed
// by its values.
type config []string

// value returns the first value of a setting, or "" if the setting is absent. If it
// occurs more than once, the last one counts, as for redis-server.
func (c config) value(name string) string {
	for i := len(c) - 2; i >= 0; i-- {
		if c[i] == name {
			return c[i+1]
		}
	}
	return ""
}

// baseConfig is what each server is given before the caller's own settings.
func baseConfig(port int, dir string) config {
	return config{
		"--port", strconv.Itoa(port),
		"--bind", "127.0.0.1",
		"--dir", dir,
		"--save", "",
		"--appendonly", "no",
		// By default a master waits five seconds for further replicas before it sends
		// its data to the first.
		"--repl-diskless-sync-delay", "0",
	}
}
