package metrics_test

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/redisleader/redisleader/internal/redistest"
	"github.com/redisleader/redisleader/leader"
	"github.com/redisleader/redisleader/redislock"
)

// scrape returns what a Prometheus that accepts a format gets.
func scrape(t *testing.T, registry *prometheus.Registry, accept string) string {
	t.Helper()
	request := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	request.Header.Set("Accept", accept)
	response := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{EnableOpenMetrics: true}).ServeHTTP(response, request)
	if got := response.Header().Get("Content-Type"); !strings.HasPrefix(got, strings.Split(accept, ";")[0]) {
		t.Fatalf("content type %q", got)
	}
	return response.Body.String()
}

var formats = map[string]string{
	"text":        "text/plain;version=0.0.4",
	"OpenMetrics": "application/openmetrics-text;version=1.0.0",
}

// tokenIn returns the fencing token in a scrape: as it is printed, and as Prometheus reads
// it, which is as a float64.
func tokenIn(t *testing.T, text string) (printed string, token int64) {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\nleader_election_fence_token{name=\"job\"} ")
	if !ok {
		t.Fatalf("no fence_token in\n%s", text)
	}
	printed, _, _ = strings.Cut(rest, "\n")
	read, err := strconv.ParseFloat(printed, 64)
	if err != nil || read != math.Trunc(read) {
		t.Fatalf("fence_token %q: %v", printed, err)
	}
	return printed, int64(read)
}

func TestScrapeHasAllDigitsOfTheToken(t *testing.T) {
	server := redistest.Start(t)
	for _, floor := range []int64{0, 1<<53 - 3, 1<<53 - 2} {
		m, registry := newMetrics(t)
		e, err := leader.New(redislock.New(server.Client(t)), leader.Config{
			Name: "job", LeaseDuration: lease, Observer: m,
			FenceFloor: func(context.Context) (int64, error) { return floor, nil },
			Callbacks:  leader.Callbacks{OnStartedLeading: func(ctx context.Context, _ leader.Term) { <-ctx.Done() }},
		})
		if err != nil {
			t.Fatal(err)
		}
		stop := run(t, e)
		await(t, "it leads", e.IsLeader)
		term, _ := e.Term()
		for format, accept := range formats {
			if printed, got := tokenIn(t, scrape(t, registry, accept)); got != term.FenceToken() || got <= floor {
				t.Errorf("%s: fence_token %s is %d, want %d", format, printed, got, term.FenceToken())
			} else {
				t.Logf("%s: %s is %d", format, printed, got)
			}
		}
		stop()
	}
}

func TestOpenMetricsScrapeIsComplete(t *testing.T) {
	m, registry := newMetrics(t)
	m.ElectorCreated("job", idle(t))
	text := scrape(t, registry, formats["OpenMetrics"])
	if !strings.HasSuffix(text, "# EOF\n") {
		t.Error("it does not end with EOF")
	}
	for family := range described(t) {
		if !strings.Contains(text, "# HELP "+strings.TrimSuffix(family, "_total")+" ") {
			t.Errorf("%s is missing", family)
		}
	}
}

func TestElectorsOfOneRegistryAreKeptApart(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	m, registry := newMetrics(t)
	leads, follows := elector(t, server, "leads", m), elector(t, server, "follows", m)
	other, otherRegistry := newMetrics(t)
	otherLeads := elector(t, server, "follows", other)
	run(t, leads)
	run(t, otherLeads)
	await(t, "two of three lead", func() bool { return leads.IsLeader() && otherLeads.IsLeader() })
	run(t, follows)
	await(t, "the third follows", func() bool { return follows.GetLeader() != "" })
	for want, n := range map[string]float64{
		`master_status{name="leads"}`:                         1,
		`master_status{name="follows"}`:                       0,
		`transitions_total{name="leads"}`:                     1,
		`transitions_total{name="follows"}`:                   1,
		`acquire_attempts_total{name="leads",result="won"}`:   1,
		`acquire_attempts_total{name="follows",result="won"}`: 0,
	} {
		if got := value(t, registry, want); got != n {
			t.Errorf("%s = %v, want %v", want, got, n)
		}
	}
	if got := value(t, otherRegistry, `master_status{name="follows"}`); got != 1 {
		t.Errorf("other registry: master_status = %v, want 1", got)
	}
	if _, ok := series(t, otherRegistry, `master_status{name="leads"}`); ok {
		t.Error("the other registry has series of an elector that it was not told of")
	}
}

// A scrape sees two electors of one name in a process as one: the one that leads counts.
func TestElectorsOfOneNameShareTheirSeries(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	m, registry := newMetrics(t)
	a, b := elector(t, server, "job", m), elector(t, server, "job", m)
	stopA := run(t, a)
	await(t, "a leads", a.IsLeader)
	run(t, b)
	await(t, "b knows the leader", func() bool { return b.GetLeader() != "" })
	stopA()
	await(t, "b leads", b.IsLeader)
	await(t, "the hand-over is measured", func() bool { count, _ := failovers(t, registry); return count == 1 })
	for want, n := range map[string]float64{
		`master_status{name="job"}`:                       1,
		`draining{name="job"}`:                            0,
		`transitions_total{name="job"}`:                   2,
		`acquire_attempts_total{name="job",result="won"}`: 2,
		`terms_ended_total{name="job",reason="stopped"}`:  1,
		`terms_ended_total{name="job",reason="lost"}`:     0,
	} {
		if got := value(t, registry, want); got != n {
			t.Errorf("%s = %v, want %v", want, got, n)
		}
	}
}
