package leader

import (
	"slices"
	"strings"
	"sync"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
)

// logLines is what was logged.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

// logger returns a Logger that adds to the lines, up to a level of verbosity.
func (l *logLines) logger(verbosity int) logr.Logger {
	return funcr.New(func(_, line string) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.lines = append(l.lines, line)
	}, funcr.Options{Verbosity: verbosity})
}

func (l *logLines) all() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.lines)
}

// logTo gives a candidate a Logger.
func logTo(l *logLines, verbosity int) func(*Config, *replica) {
	return func(cfg *Config, _ *replica) { cfg.Logger = l.logger(verbosity) }
}

// with are the lines that contain all of the texts.
func (l *logLines) with(texts ...string) []string {
	return slices.DeleteFunc(l.all(), func(line string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return !strings.Contains(line, text) })
	})
}
