package metrics_test

import (
	"os"
	"regexp"
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

var metricName = regexp.MustCompile(`\bleader_election_[a-z0-9_]+`)

// described returns the names of the metrics in the code, each with the names of its
// series, of which a histogram has three.
func described(t *testing.T) map[string][]string {
	t.Helper()
	m, registry := newMetrics(t)
	m.ElectorCreated("job", idle(t))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	types := make(map[string]string)
	for _, family := range families {
		types[family.GetName()] = family.GetType().String()
	}
	descs := make(chan *prometheus.Desc, 100)
	m.Describe(descs)
	close(descs)
	names := make(map[string][]string)
	for desc := range descs {
		name := metricName.FindString(desc.String())
		switch types[name] {
		case "":
			names[name] = nil // described and never collected
		case "HISTOGRAM":
			names[name] = []string{name + "_bucket", name + "_sum", name + "_count"}
		default:
			names[name] = []string{name}
		}
	}
	return names
}

// mentioned returns the names of metrics in a file.
func mentioned(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	names := metricName.FindAllString(string(text), -1)
	slices.Sort(names)
	return slices.Compact(names)
}

func TestDocumentationNamesEachMetric(t *testing.T) {
	var names []string
	for name, series := range described(t) {
		names = append(names, name)
		if len(series) == 0 {
			t.Errorf("%s has no series", name)
		}
	}
	slices.Sort(names)
	if documented := mentioned(t, "doc.go"); !slices.Equal(documented, names) {
		t.Errorf("doc.go has %q, the code %q", documented, names)
	}
}

// Queries need the names of series. Texts may name a metric as a whole.
func TestDashboardAndRulesUseSeriesThatExist(t *testing.T) {
	var series, families []string
	for family, names := range described(t) {
		families = append(families, family)
		series = append(series, names...)
	}
	for _, query := range slices.Concat(readDashboard(t).queries(), expressions(t)) {
		for _, name := range metricName.FindAllString(query, -1) {
			if !slices.Contains(series, name) {
				t.Errorf("%s is queried and does not exist", name)
			}
		}
	}
	for _, file := range []string{"grafana-dashboard.json", "alerts.yaml", "alerts_test.yaml", recordedTest} {
		names := mentioned(t, file)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !slices.Contains(series, name) && !slices.Contains(families, name) {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	}
}

func TestDashboardShowsEachMetric(t *testing.T) {
	shown := mentioned(t, "grafana-dashboard.json")
	for family, series := range described(t) {
		if !slices.ContainsFunc(series, func(name string) bool { return slices.Contains(shown, name) }) {
			t.Errorf("no panel shows %s", family)
		}
	}
}
