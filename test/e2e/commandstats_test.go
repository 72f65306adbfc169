//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// calls is how often the server has run a command, in scripts too.
func (s *scene) calls(ctx context.Context, command string) int {
	GinkgoHelper()
	info, err := s.client.Info(ctx, "commandstats").Result()
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(info) {
		var n int
		if _, err := fmt.Sscanf(line, "cmdstat_"+command+":calls=%d,", &n); err == nil {
			return n
		}
	}
	return 0
}
