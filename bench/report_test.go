package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestResultsReplaceWhatStandsBetweenTheMarkers(t *testing.T) {
	got, err := replaceBetween("above\n"+beginMarker+"\nold\n"+endMarker+"\nbelow\n", "new\n")
	want := "above\n" + beginMarker + "\n\nnew\n\n" + endMarker + "\nbelow\n"
	if err != nil || got != want {
		t.Errorf("got %q, %v", got, err)
	}
	for _, text := range []string{"", beginMarker, endMarker + beginMarker} {
		if _, err := replaceBetween(text, "new"); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}

func TestReportShowsItsPlots(t *testing.T) {
	dir := t.TempDir()
	file, plots := filepath.Join(dir, "performance.md"), filepath.Join(dir, "img")
	if err := os.WriteFile(file, []byte(beginMarker+endMarker), 0o600); err != nil {
		t.Fatal(err)
	}
	p := plot{file: "one.svg", title: "One", unit: nanoseconds}
	p.add("", bar{label: "a", value: 1})
	r := report{machine: "Some CPU", sections: []section{{title: "Title", text: "Text.", plots: []plot{p}}}}
	if err := r.writePlots(plots); err != nil {
		t.Fatal(err)
	}
	if err := r.writeInto(file, plots); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(text), "![One](img/one.svg)") {
		t.Errorf("%v in\n%s", err, text)
	}
	if strings.Contains(r.markdown(), "![") {
		t.Error("a report that was written nowhere shows plots")
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		want []string // in the error
	}{
		{"", nil},
		{"-short -rounds 3 -only obtain,idle -svg img", nil},
		{"-rounds 0", []string{"-rounds", "0"}},
		{"-rounds x", []string{"-rounds", `"x"`}},
		{"-only obtain,nope", []string{"-only", `"nope"`, "handover"}},
		{"-md doc.md -only obtain", []string{"-md", `"doc.md"`, "-only", `"obtain"`}},
		{"-md doc.md -rounds 2", []string{"-md", `"doc.md"`, "-rounds 2"}},
		{"-loud", []string{"-loud"}},
		{"more", []string{`"more"`}},
	} {
		_, err := parseOptions(strings.Fields(c.args), new(strings.Builder))
		if (err != nil) != (c.want != nil) {
			t.Errorf("%q: %v", c.args, err)
		}
		for _, want := range c.want {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q in it", c.args, err, want)
			}
		}
	}
}
