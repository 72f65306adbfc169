package clock

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// printReadings is the environment variable that makes TestMain print the readings of the
// clocks and end the process.
const printReadings = "CLOCK_PRINT_READINGS"

func TestMain(m *testing.M) {
	if os.Getenv(printReadings) != "" {
		i := Now()
		fmt.Println(int64(i.boot), monotonic(), int64(i.wall))
		return
	}
	os.Exit(m.Run())
}

// monotonic is the clock that Go's timers and time.Since use. It stands still during a
// suspend.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// A test cannot suspend the machine. But it can make a time namespace whose boot-time
// clock is ahead of the monotonic one, which is all that a process sees of a suspend.
// There, Now reads the real clocks of the kernel, and the difference must count as time
// that has passed. A process with threads cannot enter another time namespace, so each
// reading takes a process of its own.
func TestBootTimeNamespaceLooksLikeASuspend(t *testing.T) {
	const suspend = time.Hour
	unshare := []string{"unshare", "--time", "--boottime", fmt.Sprint(suspend.Seconds())}
	out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput()
	if err != nil {
		t.Skipf("cannot make a time namespace on this machine, so only injected clocks"+
			" show a suspend: %v: %s", err, out)
	}
	before, _ := readings(t)
	plain, _ := readings(t)
	if passed := plain.Since(before); passed <= 0 || passed > suspend/2 {
		t.Errorf("%v passed between two processes, want a moment", passed)
	}
	asleep, stood := readings(t, unshare...)
	_, now := readings(t)
	if passed := asleep.Since(before); passed < suspend || passed > suspend+suspend/2 {
		t.Errorf("%v passed in a suspend of %v", passed, suspend)
	}
	if asleep.wall-before.wall > suspend/2 || now-stood > suspend/2 || now < stood {
		t.Errorf("the wall clock advanced by %v, and the monotonic one by %v: this was no suspend",
			asleep.wall-before.wall, now-stood)
	}
}

// readings runs another process of this binary, under a command if one is given, and
// returns the readings of its clocks.
func readings(t *testing.T, under ...string) (i Instant, monotonic time.Duration) {
	t.Helper()
	command := append(under, os.Args[0])
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), printReadings+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%q: %v: %s", command, err, out)
	}
	if _, err := fmt.Sscan(strings.TrimSpace(string(out)), &i.boot, &monotonic, &i.wall); err != nil {
		t.Fatalf("%q printed %q: %v", command, out, err)
	}
	return i, monotonic
}
