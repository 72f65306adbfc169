package redistest

import (
	"fmt"
	"os/exec"
)

// findBinary returns the first of the candidates, names or paths, that can be
// executed.
func findBinary(candidates ...string) (string, error) {
	for _, candidate := range candidates {
		if path, err := exec.LookPath(candidate); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("redistest: none of %q found; these tests need a real Redis:"+
		" install it with `apt-get install redis-server` or `make deps`", candidates)
}
