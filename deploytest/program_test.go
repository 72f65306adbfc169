package deploytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// program is what the example itself says about its interface.
type program struct {
	flags   map[string]string // name to what follows it in the usage
	env     map[string]bool   // variables that it reads
	paths   map[string]bool   // that it serves
	sources string
}

var (
	flagPattern = regexp.MustCompile(`(?m)^  -(\S+)(.*(?:\n    .*)*)`)
	envPattern  = regexp.MustCompile(`os\.(?:Getenv|LookupEnv)\("([^"]+)"\)`)
	pathPattern = regexp.MustCompile(`"GET (/[^"]*)"`)
	defaultText = regexp.MustCompile(`\(default "?([^")]+)"?\)`)
)

func readProgram(t *testing.T) program {
	t.Helper()
	p := program{flags: make(map[string]string), sources: sources(t)}
	for _, match := range flagPattern.FindAllStringSubmatch(usage(t), -1) {
		p.flags[match[1]] = match[2]
	}
	p.env = first(envPattern.FindAllStringSubmatch(p.sources, -1))
	p.paths = first(pathPattern.FindAllStringSubmatch(p.sources, -1))
	if len(p.flags) < 5 || !p.env["REDIS_URL"] || len(p.paths) < 3 {
		t.Fatalf("the program is not understood: %+v", p)
	}
	return p
}

// usage is what a replica prints with -h.
func usage(t *testing.T) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "./examples/leader-worker", "-replica", "-h")
	command.Dir = ".."
	text, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, text)
	}
	return string(text)
}

// sources are the program's files, without its tests.
func sources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob(example + "*.go")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
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

// value is what a flag is given in args, or else its default.
func (p program) value(t *testing.T, args []string, name string) string {
	t.Helper()
	for _, arg := range args {
		if value, ok := strings.CutPrefix(arg, "-"+name+"="); ok {
			return value
		}
	}
	match := defaultText.FindStringSubmatch(p.flags[name])
	if match == nil {
		t.Fatalf("-%s is not given, and has no default", name)
	}
	return match[1]
}

// drainTimeout is how long a replica may take to stop: leader.Config's default for its
// lease.
func (p program) drainTimeout(t *testing.T, args []string) time.Duration {
	t.Helper()
	if strings.Contains(p.sources, "DrainTimeout:") {
		t.Fatal("the example sets a DrainTimeout of its own: take that one here")
	}
	lease, err := time.ParseDuration(p.value(t, args, "lease"))
	if err != nil {
		t.Fatal(err)
	}
	return 4 * lease
}
