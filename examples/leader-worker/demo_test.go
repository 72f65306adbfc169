//go:build unix

package main

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redisleader/redisleader/internal/redistest"
)

// checkReplicasGone fails if a replica that the show has started still runs.
func (p *program) checkReplicasGone(t *testing.T, atLeast int) {
	t.Helper()
	pids := regexp.MustCompile(`started, pid (\d+)`).FindAllStringSubmatch(p.text(), -1)
	if len(pids) < atLeast {
		t.Errorf("%d replicas were started, want %d", len(pids), atLeast)
	}
	for _, match := range pids {
		pid, err := strconv.Atoi(match[1])
		if err != nil {
			t.Fatal(err)
		}
		eventually(t, "end of replica "+match[1], func() bool { return !runs(pid) })
	}
}

// runs reports whether a process exists and is more than an entry that nobody has
// removed.
func runs(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return false
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // no such file system
	}
	state := stat[bytes.LastIndexByte(stat, ')')+1:]
	return !bytes.HasPrefix(state, []byte(" Z"))
}

func checkShown(t *testing.T, p *program) {
	t.Helper()
	if status := p.exit(t); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for _, want := range []string{
		"say on /leader that replica-", "gap to next", "hand-over (SIGTERM)", "crash (SIGKILL)", "frozen beyond its lease (SIGSTOP)",
		"end of the show", "its late write is REJECTED", "no two of the 4 terms overlapped", "take-overs: 3 (at least 3 wanted)",
		"stale writes accepted: 0 of", "late writes rejected: 1 (at least 1 wanted)", "PASSED",
	} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("output lacks %q", want)
		}
	}
	p.checkReplicasGone(t, 5)
}

func TestShow(t *testing.T) {
	t.Parallel()
	p := startSelf(t, "play", nil)
	status := watchStatus(p)
	checkShown(t, p)
	status.end(t)
	if strings.Contains(p.text(), "\x1b") {
		t.Error("colours without a terminal")
	}
}

func TestShowOnRedis(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "hidden-word")
	p := startSelf(t, "play", []string{"CLICOLOR_FORCE=1"}, "-redis", "redis://:hidden-word@"+server.Addr()+"/0")
	checkShown(t, p)
	if !strings.Contains(p.text(), "\x1b[") {
		t.Error("no colours with CLICOLOR_FORCE")
	}
	if strings.Contains(p.text(), "hidden-word") {
		t.Error("the output has the password")
	}
	if keys, err := server.Client(t).Keys(t.Context(), "*").Result(); err != nil || len(keys) != 0 {
		t.Errorf("left in Redis: %q, %v", keys, err)
	}
}

func TestShowIsInterrupted(t *testing.T) {
	t.Parallel()
	p := startSelf(t, "play", nil)
	p.await(t, "say on /leader") // the election is over
	// To the whole group, as a terminal does.
	if err := syscall.Kill(-p.cmd.Process.Pid, syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if status := p.exit(t); status != 130 {
		t.Errorf("exit status %d", status)
	}
	if strings.Contains(p.text(), "FAIL") || !strings.Contains(p.text(), "interrupted") {
		t.Error("an interruption is reported as something else")
	}
	p.checkReplicasGone(t, 3)
	if n := strings.Count(p.text(), "has ended (exit status 0)"); n != 3 {
		t.Errorf("%d of 3 replicas ended in good order", n)
	}
}

// A frozen replica is the one that could survive: it notices nothing.
func TestReplicasDoNotSurviveTheShow(t *testing.T) {
	t.Parallel()
	p := startSelf(t, "play", nil)
	p.await(t, "has frozen replica")
	p.signal(syscall.SIGKILL)
	_ = p.exit(t)
	p.checkReplicasGone(t, 5)
}

func TestShowFailsWithoutRedis(t *testing.T) {
	t.Parallel()
	for _, url := range []string{"redis://:hidden-word@127.0.0.1:1/0", "redis://u:hidden-word%zz@127.0.0.1", "http://u:hidden-word@127.0.0.1"} {
		p := startSelf(t, "play", []string{"REDIS_URL=" + url})
		if status := p.exit(t); status != 1 {
			t.Errorf("exit status %d", status)
		}
		if text := p.text(); !strings.Contains(text, "REDIS_URL") || strings.Contains(text, "hidden-word") {
			t.Errorf("the error does not say what is wrong, or says too much: %s", text)
		}
	}
}
