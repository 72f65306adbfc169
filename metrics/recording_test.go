//go:build unix

package metrics_test

import (
	"flag"
	"fmt"
	"maps"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/redisleader/redisleader/internal/redistest"
)

var record = flag.Bool("record", false, "record an election of six minutes into "+recordedTest)

// scenario is an election in which the first leader is killed, the second freezes for a
// while, and then Redis is away. Times count from the first scrape.
type scenario struct {
	lease, every                          time.Duration // every is from one scrape to the next
	kill, freeze, thaw, outage, back, end time.Duration
}

// recorded is the scenario of recordedTest, whose expectations depend on these times.
var recorded = scenario{
	lease: 15 * time.Second, every: 5 * time.Second,
	kill: 30 * time.Second, freeze: 75 * time.Second, thaw: 110 * time.Second,
	outage: 140 * time.Second, back: 320 * time.Second, end: 360 * time.Second,
}

// brief is the same in eleven seconds, to see that recording works.
var brief = scenario{
	lease: 1200 * time.Millisecond, every: 200 * time.Millisecond,
	kill: 600 * time.Millisecond, freeze: 3 * time.Second, thaw: 5 * time.Second,
	outage: 6 * time.Second, back: 8 * time.Second, end: 11 * time.Second,
}

// recorder records the series that the rules use.
type recorder struct {
	replicas []*replica
	client   http.Client
	columns  map[string][]string // by series; "" where there was no sample
	rows     int
}

var recordedSeries = regexp.MustCompile(`^leader_election_(master_status|fence_token|lease_remaining_seconds|draining|transitions_total|renew_margin_seconds_bucket)\b`)

// take scrapes all replicas at once.
func (r *recorder) take() {
	samples := make([]map[string]string, len(r.replicas))
	var scrapes sync.WaitGroup
	for i, replica := range r.replicas {
		scrapes.Go(func() { samples[i] = replica.scrape(&r.client) })
	}
	scrapes.Wait()
	for i, replica := range r.replicas {
		for series, value := range samples[i] {
			if !recordedSeries.MatchString(series) {
				continue
			}
			series = strings.Replace(series, "{", fmt.Sprintf("{job=%q,instance=%q,", "billing", replica.name), 1)
			if r.columns[series] == nil {
				r.columns[series] = make([]string, r.rows)
			}
			r.columns[series] = append(r.columns[series], value)
		}
	}
	r.rows++
	for series, column := range r.columns {
		if len(column) < r.rows {
			r.columns[series] = append(column, "")
		}
	}
}

// at returns a sample, 0 if there is none.
func (r *recorder) at(metric, instance string, row int) float64 {
	column := r.columns[fmt.Sprintf("leader_election_%s{job=%q,instance=%q,name=%q}", metric, "billing", instance, "billing")]
	if row >= len(column) || column[row] == "" {
		return 0
	}
	value, err := strconv.ParseFloat(column[row], 64)
	if err != nil {
		panic(err)
	}
	return value
}

// leaders returns the replicas that said at a scrape that they led.
func (r *recorder) leaders(row int) []*replica {
	return slices.DeleteFunc(slices.Clone(r.replicas), func(p *replica) bool { return r.at("master_status", p.name, row) == 0 })
}

// String returns the recording as promtool's input_series. A series that ends is marked as
// stale, as Prometheus does.
func (r *recorder) String() string {
	var text strings.Builder
	for _, series := range slices.Sorted(maps.Keys(r.columns)) {
		fmt.Fprintf(&text, "      - series: '%s'\n        values: '%s'\n", series, strings.Join(notation(r.columns[series]), " "))
	}
	return text.String()
}

// notation writes samples as promtool reads them: NxM is N and M times more.
func notation(column []string) []string {
	var items []string
	for i := 0; i < len(column); {
		item, n := column[i], 1
		for i+n < len(column) && column[i+n] == item {
			n++
		}
		i += n
		if item == "" && len(items) > 0 {
			items, n = append(items, "stale"), n-1
		}
		switch {
		case n == 0:
		case item == "":
			items = append(items, fmt.Sprintf("_x%d", n))
		case n == 1:
			items = append(items, item)
		default:
			items = append(items, fmt.Sprintf("%sx%d", item, n-1))
		}
	}
	return items
}

// play records s.
func play(t *testing.T, s scenario) *recorder {
	t.Helper()
	server := redistest.Start(t)
	r := &recorder{columns: make(map[string][]string)}
	r.client = http.Client{Timeout: s.every * 4 / 5, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, name := range []string{"a", "b", "c"} {
		r.replicas = append(r.replicas, startReplica(t, name, server, s.lease))
	}
	await(t, "somebody leads", func() bool {
		r.columns, r.rows = make(map[string][]string), 0
		r.take()
		return len(r.leaders(0)) == 1
	})
	frozen := 0
	steps := map[time.Duration]func(){
		s.kill:   func() { r.signal(t, syscall.SIGKILL) },
		s.freeze: func() { frozen = r.signal(t, syscall.SIGSTOP) },
		s.thaw:   func() { _ = syscall.Kill(frozen, syscall.SIGCONT) },
		s.outage: server.Kill,
		s.back:   server.Restart,
	}
	ticker := time.NewTicker(s.every)
	defer ticker.Stop()
	for at := s.every; at <= s.end; at += s.every {
		<-ticker.C
		r.take()
		if step := steps[at]; step != nil {
			step()
		}
	}
	return r
}

// signal sends one to the replica that leads and returns its process id.
func (r *recorder) signal(t *testing.T, sig syscall.Signal) int {
	t.Helper()
	leaders := r.leaders(r.rows - 1)
	if len(leaders) != 1 {
		t.Fatalf("%d replicas lead, want 1 to send %v to:\n%s", len(leaders), sig, r)
	}
	pid := leaders[0].cmd.Process.Pid
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
	return pid
}

func TestRecordedElection(t *testing.T) {
	t.Parallel()
	s := brief
	if *record {
		s = recorded
	}
	r := play(t, s)
	row := func(at time.Duration) int { return int(at / s.every) }
	for i := range r.rows {
		if n := len(r.leaders(i)); n > 1 {
			t.Errorf("%d lead at scrape %d", n, i)
		}
	}
	first, second, third := r.leaders(row(s.kill)), r.leaders(row(s.freeze)), r.leaders(row(s.outage))
	if len(first) != 1 || len(second) != 1 || len(third) != 1 || first[0] == second[0] || second[0] == third[0] {
		t.Fatalf("leaders %v, %v, %v, want three different ones:\n%s", first, second, third, r)
	}
	if token, before := r.at("fence_token", third[0].name, row(s.outage)), r.at("fence_token", second[0].name, row(s.freeze)); token <= before {
		t.Errorf("fence_token %v follows %v", token, before)
	}
	if len(r.leaders(row(s.back))) != 0 || len(r.leaders(r.rows-1)) != 1 {
		t.Errorf("leaders %v when Redis was away, %v afterwards", r.leaders(row(s.back)), r.leaders(r.rows-1))
	}
	if !strings.Contains(r.String(), " stale _x") {
		t.Error("the killed leader left no mark")
	}
	if *record && !t.Failed() {
		keep(t, r)
	}
}

// keep writes the recording to the file.
func keep(t *testing.T, r *recorder) {
	t.Helper()
	text, err := os.ReadFile(recordedTest)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "    input_series: # recorded\n", "    # end of the recording\n"
	head, rest, ok := strings.Cut(string(text), begin)
	_, tail, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has not the marks around the recording", recordedTest)
	}
	if err := os.WriteFile(recordedTest, []byte(head+begin+r.String()+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
