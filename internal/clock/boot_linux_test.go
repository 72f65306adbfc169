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

// printReadings has TestMain print what the clocks of the process read, and end it.
const printReadings = "CLOCK_PRINT_READINGS"

func TestMain(m *testing.M) {
	if os.Getenv(printReadings) != "" {
		i := Now()
		fmt.Println(int64(i.boot), monotonic(), int64(i.wall))
		return
	}
	os.Exit(m.Run())
}

// monotonic is the clock that Go's timers and time.Since go by. It stands still during
// a suspend.
func monotonic() int64 {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		panic(err)
	}
	return ts.Nano()
}

// A machine cannot be suspended by a test, but a time namespace can be given a
// boot-time clock that is ahead of the monotonic one, which is all that a process sees
// of a suspend. What Now reads there, by the real clocks of the kernel, has to count as
// time that passed since an instant before. A process that has threads cannot enter
// another time namespace, which is why this takes one process for each reading.
func TestBootTimeNamespaceLooksLikeASuspend(t *testing.T) {
	const suspend = time.Hour
	unshare := []string{"unshare", "--time", "--boottime", fmt.Sprint(suspend.Seconds())}
	if out, err := exec.Command(unshare[0], append(unshare[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("this machine does not let the test make a time namespace, so that only injected clocks show a suspend: %v: %s", err, out)
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
		t.Errorf("the wall clock went on by %v, and the monotonic one by %v since: this was no suspend", asleep.wall-before.wall, now-stood)
	}
}

// readings has another process of this binary read its clocks, under a command if one
// is given.
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
