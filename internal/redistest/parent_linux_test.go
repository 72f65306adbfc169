package redistest

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// helperVariable tells a copy of the test binary that it is the one to be killed.
const helperVariable = "REDISTEST_HELPER"

func TestServerDiesWithAKilledTestBinary(t *testing.T) {
	if os.Getenv(helperVariable) != "" {
		runKilledTest(t)
	}
	helper := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	helper.Env = append(os.Environ(), helperVariable+"=1", "TMPDIR="+t.TempDir())
	out, err := helper.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	_ = helper.Process.Kill()
	_ = helper.Wait()
	if err != nil {
		t.Fatalf("no address from the helper: %v", err)
	}
	mustAwait(t, "the orphan to end", func(context.Context) error {
		if refused(strings.TrimSpace(addr)) {
			return nil
		}
		return errors.New("still listening")
	})
}

// runKilledTest starts a server and a frozen one, prints the address of the first and
// waits to be killed.
func runKilledTest(t *testing.T) {
	s := Start(t)
	Start(t).Freeze()
	_, _ = os.Stdout.WriteString(s.Addr() + "\n")
	select {}
}
