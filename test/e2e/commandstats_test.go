//go:build unix

package e2e

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// calls is how often the server has run a command, including calls from scripts.
func (env *environment) calls(ctx context.Context, command string) int {
	GinkgoHelper()
	info, err := env.client.Info(ctx, "commandstats").Result()
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(info) {
		var n int
		if _, err := fmt.Sscanf(line, "cmdstat_"+command+":calls=%d,", &n); err == nil {
			return n
		}
	}
	return 0
}
