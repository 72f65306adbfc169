package metrics_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// dashboard is the part of Grafana's format that matters here.
type dashboard struct {
	Panels      []panel
	Templating  struct{ List []struct{ Name, Type string } }
	Annotations struct{ List []struct{ Expr string } }
}

type panel struct {
	ID          int
	Title       string
	Description string
	GridPos     area
	Targets     []struct{ Expr, RefID string }
	Datasource  struct{ UID string }
}

// area is the place of a panel in a grid of 24 columns.
type area struct{ X, Y, W, H int }

func (a area) overlaps(b area) bool {
	return a.X < b.X+b.W && b.X < a.X+a.W && a.Y < b.Y+b.H && b.Y < a.Y+a.H
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text, err := os.ReadFile("grafana-dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// queries returns the queries of the dashboard. Variables are replaced by what Grafana
// might put there.
func (d dashboard) queries() []string {
	fill := strings.NewReplacer("$job", ".*", "$name", ".*", "$__rate_interval", "1m", "$__range", "3h")
	var all []string
	for _, panel := range d.Panels {
		for _, target := range panel.Targets {
			all = append(all, fill.Replace(target.Expr))
		}
	}
	for _, annotation := range d.Annotations.List {
		all = append(all, fill.Replace(annotation.Expr))
	}
	return all
}

func TestPanelsHaveAPlaceAndANumberOfTheirOwn(t *testing.T) {
	panels := readDashboard(t).Panels
	if len(panels) == 0 {
		t.Fatal("no panels")
	}
	for i, p := range panels {
		if p.ID <= 0 || p.GridPos.W <= 0 || p.GridPos.H <= 0 || p.GridPos.X < 0 || p.GridPos.Y < 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %q: id %d, position %+v", p.Title, p.ID, p.GridPos)
		}
		for _, other := range panels[:i] {
			if p.ID == other.ID || p.Title == other.Title {
				t.Errorf("panels %q and %q have the same id or title", p.Title, other.Title)
			}
			if p.GridPos.overlaps(other.GridPos) {
				t.Errorf("panels %q and %q overlap", p.Title, other.Title)
			}
		}
	}
}

func TestPanelsQueryTheChosenElections(t *testing.T) {
	for _, p := range readDashboard(t).Panels {
		if p.Description == "" || p.Datasource.UID != "${datasource}" || len(p.Targets) == 0 {
			t.Errorf("panel %q: description %q, data source %q, %d queries", p.Title, p.Description, p.Datasource.UID, len(p.Targets))
		}
		refs := make(map[string]bool)
		for _, target := range p.Targets {
			if refs[target.RefID] {
				t.Errorf("panel %q: two queries %s", p.Title, target.RefID)
			}
			refs[target.RefID] = true
			if n := strings.Count(target.Expr, "leader_election_"); n == 0 || n != strings.Count(target.Expr, `{job=~"$job", name=~"$name"`) {
				t.Errorf("panel %q: %s does not select the job and name chosen", p.Title, target.Expr)
			}
		}
	}
}

func TestDashboardHasVariables(t *testing.T) {
	types := make(map[string]string)
	for _, variable := range readDashboard(t).Templating.List {
		types[variable.Name] = variable.Type
	}
	if types["datasource"] != "datasource" || types["name"] != "query" || types["job"] != "query" {
		t.Errorf("variables %v, want datasource, job and name", types)
	}
}
