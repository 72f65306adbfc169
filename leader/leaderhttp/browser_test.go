package leaderhttp

import (
	"context"
	_ "embed"
	"encoding/json"
	"html"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redisleader/redisleader/leader"
)

// These tests show the status page in a real browser: headless Chromium, which `make deps`
// installs.

// findBrowser returns the path of a browser. It fails the test if there is none, because a
// page that nobody has looked at is not tested.
func findBrowser(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome", "/Applications/Chromium.app/Contents/MacOS/Chromium"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("chromium is missing, which this test shows the status page with: run make deps, or install Debian's package chromium")
	return ""
}

// browse opens url in a browser of its own and returns the document as it is once it
// has loaded.
func browse(t *testing.T, url string, flags ...string) string {
	t.Helper()
	path := findBrowser(t)
	home, err := os.MkdirTemp("", "browser")
	if err != nil {
		t.Fatal(err)
	}
	// Not t.TempDir, which fails the test if a last helper of the browser still writes
	// there.
	defer func() { _ = os.RemoveAll(home) }()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-crash-reporter", "--disable-dev-shm-usage", "--no-proxy-server", "--dump-dom",
		"--user-data-dir=" + filepath.Join(home, "profile"),
	}, flags...)
	cmd := exec.CommandContext(ctx, path, append(args, url)...)
	cmd.Env = append(os.Environ(), "HOME="+home)
	cmd.WaitDelay = 5 * time.Second
	var out, errs strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", path, url, err, errs.String())
	}
	return out.String()
}

// long is an identity as containers give it, and longer than any line.
const long = "report-scheduler-7c9f6d5b8-x2v4q.eu-central-1.compute.internal_1_QZ4KMN7A_" + "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// showcase is a page with everything that a page can show.
func showcase() page {
	var past []leader.PastTerm
	for i, reason := range append(leader.EndReasons(), leader.EndedExpired, leader.EndedLost) {
		began := noon.Add(-time.Duration(i+1) * 7 * time.Hour)
		past = append(past, leader.PastTerm{
			FenceToken: began.UnixMicro(), StartedAt: began, Lasted: time.Duration(i*i+1) * 734 * time.Second, Reason: reason,
		})
	}
	all := []leader.Status{
		{Name: "report-scheduler", Identity: "replica-1", State: leader.StateLeading, Leader: led("replica-1"),
			LeaderSince: noon, LeaseRemaining: 6400 * time.Millisecond, LeaseTotal: 10 * time.Second, LastTerms: past},
		{Name: "mail", Identity: long, State: leader.StateCandidate, Leader: led(long + "2"),
			LeaderSince: noon, LeaseRemaining: 11 * time.Second, LeaseTotal: 15 * time.Second},
		{Name: long, Identity: "replica-1", State: leader.StateDraining, LastTerms: past[:1], Overdue: 3 * time.Second},
		{Name: "billing", Identity: "replica-1", State: leader.StateStopped},
		{Name: "forever", Identity: "replica-1", State: leader.StateCandidate, Leader: led("replica-9"), LeaseRemaining: -time.Millisecond},
	}
	at := noon.Add(4*time.Minute + 12*time.Second)
	for i := range all {
		all[i].At = at
	}
	p := newPage(all)
	p.At = at
	return p
}

// led is a leader whose term began at noon.
func led(identity string) leader.Leader {
	return leader.Leader{Identity: identity, FenceToken: noon.UnixMicro()}
}

//go:embed testdata/check.html
var checkPage string

// sight is what testdata/check.html finds in one frame.
type sight struct {
	Width, ScrollWidth int
	Dark               bool
	Title, Text        string
	Outside            []string // elements that reach beyond the page
	Overlaps           []string // texts that lie on each other
	Faint              []string // texts with too little contrast
	Bar                string   // colour of the bar's background
	Language           string
	Switch             bool // the switch of the script shows
}

// look shows a page in two frames, as wide as on a phone and as on a desk. Headless
// Chromium has no window narrower than 500 pixels, but the same style rules hold in a frame.
func look(t *testing.T, show http.HandlerFunc, flags ...string) []sight {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/page", show)
	mux.HandleFunc("/check", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, checkPage) })
	server := httptest.NewServer(mux)
	defer server.Close()
	dom := browse(t, server.URL+"/check", append(flags, "--window-size=1400,3000")...)
	found := regexp.MustCompile(`(?s)<pre id="report">(.*?)</pre>`).FindStringSubmatch(dom)
	if found == nil {
		t.Fatalf("no report in %s", dom)
	}
	var sights []sight
	if err := json.Unmarshal([]byte(html.UnescapeString(found[1])), &sights); err != nil {
		t.Fatalf("%v: %q", err, found[1])
	}
	if len(sights) != 2 || sights[0].Width != 390 || sights[1].Width != 1280 {
		t.Fatalf("frames: %+v", sights)
	}
	return sights
}

func TestBrowserShowsStatusPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		flag string
		dark bool
		bar  string // as in page.html
	}{
		{"light", "--blink-settings=preferredColorScheme=1", false, "rgb(227, 231, 236)"},
		{"dark", "--force-dark-mode", true, "rgb(46, 54, 64)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			show := func(w http.ResponseWriter, _ *http.Request) { showcase().write(w, http.StatusOK) }
			for _, s := range look(t, show, c.flag) {
				if s.Dark != c.dark || s.Bar != c.bar {
					t.Errorf("%d px: dark %t with a bar in %s", s.Width, s.Dark, s.Bar)
				}
				if s.ScrollWidth > s.Width || len(s.Outside) > 0 {
					t.Errorf("%d px: needs %d px; outside are %q", s.Width, s.ScrollWidth, s.Outside)
				}
				if len(s.Overlaps) > 0 || len(s.Faint) > 0 {
					t.Errorf("%d px: overlaps %q, faint %q", s.Width, s.Overlaps, s.Faint)
				}
				if s.Title != "5 elections" || s.Language != "en" || !s.Switch {
					t.Errorf("%d px: title %q, language %q, switch %t", s.Width, s.Title, s.Language, s.Switch)
				}
				for _, want := range []string{
					"replica-1 leads", "That is this candidate.", "2026-03-01 12:00:00 UTC for 4m12s", "1772366400000000", "6.4s of 10s",
					"● leading", "○ candidate", "◐ draining", "■ stopped", "Overdue: the term ended 3s ago", long + "2 leads", "Nobody is known to lead",
					"It does not expire", "expired after 24m28s not renewed by the deadline began 2026-02-28 22:00:00 UTC fencing token 1772316000000000", "None has ended yet",
				} {
					if !strings.Contains(s.Text, want) {
						t.Errorf("%d px: lacks %q: %s", s.Width, want, s.Text)
					}
				}
			}
		})
	}
}

// The check is worth something only if it can fail.
func TestBrowserCheckSeesFaults(t *testing.T) {
	t.Parallel()
	spoil := strings.NewReplacer("--soft: #555d6b", "--soft: #c5cdcb", ".sub { margin: .25rem 0 0;", ".sub { margin: -1rem 0 0;",
		"overflow-wrap: anywhere", "overflow-wrap: normal", "script-src", "x-src")
	sights := look(t, func(w http.ResponseWriter, _ *http.Request) {
		reply := httptest.NewRecorder()
		showcase().write(reply, http.StatusOK)
		w.Header().Set("Content-Security-Policy", spoil.Replace(reply.Header().Get("Content-Security-Policy")))
		_, _ = io.WriteString(w, spoil.Replace(reply.Body.String()))
	}, "--blink-settings=preferredColorScheme=1")
	if s := sights[0]; s.ScrollWidth <= s.Width || len(s.Outside) == 0 || len(s.Overlaps) == 0 || len(s.Faint) == 0 || s.Switch {
		t.Errorf("a broken page passes: %+v", s)
	}
}

// A page that is left open follows the election, says when the candidate is gone, and goes
// on when it is back.
func TestBrowserRefreshesStatusPage(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		leaders []string // in one reply after the other, the last in all that follow; "": no reply
		want    string
		warning string
	}{
		{"follows", []string{"one", "two"}, "two leads", ""},
		{"gone", []string{"one", ""}, "one leads", "No answer. This page is out of date."},
		{"back", []string{"one", "", "three"}, "three leads", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				leads := c.leaders[min(int(asked.Add(1)), len(c.leaders))-1]
				if leads == "" {
					panic(http.ErrAbortHandler)
				}
				// LeaderHandler's reply on a follower, which is no reason to stop.
				newPage([]leader.Status{{Name: "n", Leader: led(leads), At: noon}}).write(w, http.StatusServiceUnavailable)
			}))
			defer server.Close()
			dom := browse(t, server.URL, "--virtual-time-budget=7000")
			warning := regexp.MustCompile(`id="warning">([^<]*)<`).FindStringSubmatch(dom)
			if asked.Load() < 3 || warning == nil || warning[1] != c.warning {
				t.Errorf("asked %d times, warning %q", asked.Load(), warning)
			}
			if text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(dom, ""); !strings.Contains(text, c.want) || !strings.Contains(dom, "<title>"+c.want+" n</title>") {
				t.Errorf("does not say %q: %s", c.want, text)
			}
		})
	}
}
