package deploytest

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// program is what the sources of the example say about its interface.
type program struct {
	env     map[string]bool // variables that it reads
	paths   map[string]bool // that it serves
	sources string
}

var (
	envPattern   = regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("([^"]+)"\)`)
	pathPattern  = regexp.MustCompile(`"GET (/[^"]*)"`)
	drainPattern = regexp.MustCompile(`defaultDrainTimeout\s*=\s*(\d+) \* time\.Second`)
)

func readProgram(t *testing.T) program {
	t.Helper()
	p := program{sources: sources(t)}
	p.env = first(envPattern.FindAllStringSubmatch(p.sources, -1))
	p.paths = first(pathPattern.FindAllStringSubmatch(p.sources, -1))
	if len(p.env) < 5 || !p.env["REDIS_URL"] || len(p.paths) < 3 {
		t.Fatalf("the program is not understood: it reads %v, and serves %v", p.env, p.paths)
	}
	return p
}

// sources are the files of the service: neither the tests nor the show.
func sources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(example + "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || filepath.Base(file) == "demo.go" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

// first are the first groups of matches.
func first(matches [][]string) map[string]bool {
	set := make(map[string]bool)
	for _, match := range matches {
		set[match[1]] = true
	}
	return set
}

// drainTimeout is how long a replica may take to stop: the default of leader.Config.
func (p program) drainTimeout(t *testing.T) time.Duration {
	t.Helper()
	if strings.Contains(p.sources, "DrainTimeout:") {
		t.Fatal("the example sets a DrainTimeout of its own: take that one here")
	}
	match := drainPattern.FindSubmatch(readFile(t, "../leader/config.go"))
	if match == nil {
		t.Fatal("leader/config.go has no defaultDrainTimeout in seconds")
	}
	seconds, err := strconv.Atoi(string(match[1]))
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(seconds) * time.Second
}
