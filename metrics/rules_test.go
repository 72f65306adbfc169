package metrics_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// recordedTest is the file with the recorded series, between two marks, and with what the
// rules must make of them.
const recordedTest = "testdata/recorded_election_test.yaml"

// promtool runs promtool. The test fails if it is missing, because rules that were not
// checked must not pass.
func promtool(t *testing.T, input string, args ...string) {
	t.Helper()
	path, err := exec.LookPath("promtool")
	if err != nil {
		t.Fatalf("promtool is missing, which checks the alerting rules: install it with `make deps` (%v)", err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdin = strings.NewReader(input)
	output, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, output)
	}
	t.Logf("promtool %s\n%s", strings.Join(args, " "), output)
}

func TestRulesAreValid(t *testing.T) {
	promtool(t, "", "check", "rules", "alerts.yaml")
}

func TestRulesFireWhenTheyShould(t *testing.T) {
	promtool(t, "", "test", "rules", "alerts_test.yaml", recordedTest)
}

func TestDashboardQueriesAreValid(t *testing.T) {
	rules := "groups:\n  - name: dashboard\n    rules:\n"
	for i, query := range readDashboard(t).queries() {
		rules += fmt.Sprintf("      - record: query:%d\n        expr: %q\n", i, query)
	}
	file := filepath.Join(t.TempDir(), "queries.yaml")
	if err := os.WriteFile(file, []byte(rules), 0o644); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", file)
}

func TestPrometheusFindsNoFaultInAScrape(t *testing.T) {
	m, registry := newMetrics(t)
	m.ElectorCreated("job", idle(t))
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(response, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	promtool(t, response.Body.String(), "check", "metrics")
}

// alerts returns the text of each rule by its name.
func alerts(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, rule := range strings.Split(string(text), "- alert: ")[1:] {
		name, body, _ := strings.Cut(rule, "\n")
		all[name] = body
	}
	return all
}

// expressions returns the expressions of all alerts.
func expressions(t *testing.T) []string {
	t.Helper()
	expression := regexp.MustCompile(`(?s)^ +expr: (.*?)\n {8}\w`)
	var all []string
	for name, rule := range alerts(t) {
		found := expression.FindStringSubmatch(rule)
		if found == nil {
			t.Fatalf("%s has no expression", name)
		}
		all = append(all, found[1])
	}
	return all
}

// People who are woken up need to know how bad it is, what it is, and what to do.
func TestEachAlertSaysWhatToDo(t *testing.T) {
	tests, err := os.ReadFile("alerts_test.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rules := alerts(t)
	if len(rules) != 5 {
		t.Errorf("%d alerts", len(rules))
	}
	for name, rule := range rules {
		for _, want := range []string{`severity: (critical|warning)\n`, `summary: .{20}`, `description: >-\n.{60}`} {
			if !regexp.MustCompile(want).MatchString(rule) {
				t.Errorf("%s: nothing matches %q", name, want)
			}
		}
		if !strings.Contains(string(tests), "alertname: "+name+"\n") {
			t.Errorf("%s is not tested", name)
		}
	}
}
