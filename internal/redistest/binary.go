package redistest

import (
	"fmt"
	"os"
	"os/exec"
)

// These environment variables choose the programs that run as servers and as sentinels.
// Each holds a name to look up in PATH, or a path. Tests run in the directory of their
// package, so a relative path rarely means what it seems to; use an absolute one.
const (
	serverVariable   = "REDIS_SERVER"
	sentinelVariable = "REDIS_SENTINEL"
)

// serverBinary returns the path of the program that runs as a server.
func serverBinary() (string, error) {
	if os.Getenv(serverVariable) != "" {
		return chosenBinary(serverVariable)
	}
	return findBinary("redis-server", "/usr/bin/redis-server")
}

// sentinelBinary returns the path of the program that runs as a sentinel. Every server
// can, so the default is the server's program.
func sentinelBinary() (string, error) {
	if os.Getenv(sentinelVariable) != "" {
		return chosenBinary(sentinelVariable)
	}
	return serverBinary()
}

// chosenBinary returns the path of the program that an environment variable names.
func chosenBinary(variable string) (string, error) {
	value := os.Getenv(variable)
	path, err := exec.LookPath(value)
	if err != nil {
		return "", fmt.Errorf("redistest: cannot run %s=%q: %w", variable, value, err)
	}
	return path, nil
}

// findBinary returns the path of the first candidate, name or path, that can be run.
func findBinary(candidates ...string) (string, error) {
	for _, candidate := range candidates {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("redistest: cannot run any of %q; these tests need a real Redis:"+
		" run `apt-get install redis-server` or `make deps`, or set %s",
		candidates, serverVariable)
}
