package redistest

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// setBinaries makes the environment name the programs of server and sentinel; ""
// means the default.
func setBinaries(t *testing.T, server, sentinel string) {
	t.Helper()
	t.Setenv(serverVariable, server)
	t.Setenv(sentinelVariable, sentinel)
}

func TestEnvironmentChoosesBinaries(t *testing.T) {
	ls, err := exec.LookPath("ls")
	if err != nil {
		t.Fatal(err)
	}
	cat, err := exec.LookPath("cat")
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ server, sentinel, wantServer, wantSentinel string }{
		"name in PATH":       {"ls", "cat", ls, cat},
		"path":               {ls, cat, ls, cat},
		"server for both":    {ls, "", ls, ls},
		"sentinel by itself": {"", cat, "", cat},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			setBinaries(t, c.server, c.sentinel)
			if got, err := sentinelBinary(); got != c.wantSentinel || err != nil {
				t.Errorf("sentinel = %q, %v, want %q", got, err, c.wantSentinel)
			}
			if c.wantServer == "" {
				return
			}
			if got, err := serverBinary(); got != c.wantServer || err != nil {
				t.Errorf("server = %q, %v, want %q", got, err, c.wantServer)
			}
		})
	}
}

func TestBinaryThatCannotRunIsNamed(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "no-such-server")
	setBinaries(t, missing, "")
	_, err := Launch(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "REDIS_SERVER") || !strings.Contains(err.Error(), missing) {
		t.Errorf("Launch: %v, want an error with the variable and its value", err)
	}

	setBinaries(t, "", t.TempDir())
	master := Start(t)
	_, err = launchSentinel(t.TempDir(), master)
	if err == nil || !strings.Contains(err.Error(), "REDIS_SENTINEL") {
		t.Errorf("sentinel: %v, want an error with the variable", err)
	}
}

func TestBinaryThatIsNoServerIsNamed(t *testing.T) {
	setBinaries(t, "ls", "")
	_, err := Launch(t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "/ls") {
		t.Errorf("Launch: %v, want an error with the program", err)
	}
}

func TestMissingBinarySaysHowToInstall(t *testing.T) {
	_, err := findBinary("no-such-redis", "/no/such/redis")
	if err == nil || !strings.Contains(err.Error(), "apt-get install redis-server") {
		t.Errorf("error = %v, want one that says how to install", err)
	}
}
