package leader

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// accept asks a handler as a reader that accepts these types.
func accept(handler http.Handler, types, url string) *httptest.ResponseRecorder {
	request := httptest.NewRequest(http.MethodGet, url, nil)
	if types != "" {
		request.Header.Set("Accept", types)
	}
	reply := httptest.NewRecorder()
	handler.ServeHTTP(reply, request)
	return reply
}

const browserAccepts = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

var tag = regexp.MustCompile(`<[^>]*>`)

// readPage is what a page says, without its markup.
func readPage(t *testing.T, handler http.Handler) string {
	t.Helper()
	reply := accept(handler, browserAccepts, "/")
	if kind := reply.Header().Get("Content-Type"); kind != "text/html; charset=utf-8" {
		t.Fatalf("Content-Type %q", kind)
	}
	_, main, _ := strings.Cut(reply.Body.String(), "<main>")
	main, _, _ = strings.Cut(main, "</main>")
	return strings.Join(strings.Fields(tag.ReplaceAllString(main, " ")), " ")
}

func TestWhoGetsThePage(t *testing.T) {
	handler := StatusHandler()
	for _, c := range []struct {
		types, url string
		page       bool
	}{
		{"", "/", false},
		{"*/*", "/", false}, // curl
		{browserAccepts, "/", true},
		{browserAccepts, "/?format=json", false},
		{browserAccepts, "/?format=", true},
		{"application/json", "/", false},
		{"application/json, text/plain, */*", "/", false},
		{"application/json, text/html", "/", false},
		{"application/json;q=0.5, text/html", "/", true},
		{"text/html;q=0, */*", "/", false},
		{"text/html;q=none", "/", false},
		{"TEXT/HTML", "/", true},
		{"text/*", "/", false},
		{";;,,text/html", "/", true},
	} {
		reply := accept(handler, c.types, c.url)
		want := "application/json"
		if c.page {
			want = "text/html; charset=utf-8"
		}
		if got := reply.Header(); got.Get("Content-Type") != want || got.Get("Vary") != "Accept" || got.Get("Cache-Control") != "no-store" || reply.Code != http.StatusOK {
			t.Errorf("Accept %q, %s: %d %v, want %s", c.types, c.url, reply.Code, got, want)
		}
	}
}

func TestPageInEveryState(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		finish := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.LeaseDuration = 2 * testLease
			// As over Redis, where tokens are the server's clock.
			cfg.FenceFloor = func(context.Context) (int64, error) { return time.Now().UnixMicro() - 1, nil }
			cfg.Callbacks.OnStartedLeading = func(context.Context, Term) { <-finish }
		})
		b := newReplica(t, server, "b", func(cfg *Config, _ *replica) { cfg.LeaseDuration = 2 * testLease })
		expect := func(when string, r *replica, wants ...string) {
			t.Helper()
			synctest.Wait()
			got := readPage(t, StatusHandler(r.Elector))
			for _, want := range wants {
				if lacking, not := strings.CutPrefix(want, "!"); strings.Contains(got, lacking) == not {
					t.Errorf("%s: %s has %q: %t\n%s", when, r.cfg.Identity, lacking, not, got)
				}
			}
		}
		expect("at first", a, "Election test ■ stopped Nobody is known to lead", "Run is not running", "None has ended yet. As of 2000-01-01 00:00:00 UTC", "!Fence", "!Lease", "!Overdue")
		a.start(t)
		synctest.Wait()
		b.start(t)
		expect("a leads", a, "● leading a leads That is this candidate.", "Leads since 2000-01-01 00:00:00 UTC for 0s Fence token 946684800000000 This candidate a leads", "Lease left unless renewed 2s of 2s", "this is its first")
		expect("a leads", b, "○ candidate a leads As this candidate saw it", "Leads since 2000-01-01 00:00:00 UTC for 0s Fence token 946684800000000 This candidate b competes", "unless renewed 3s of 3s", "None has ended yet. As of")
		time.Sleep(900 * time.Millisecond) // b looks each 400 to 480 ms, a renews each second
		expect("a leads on", a, "for 900ms", "1.1s of 2s")
		expect("a leads on", b, "for 900ms", "of 3s", "!unless renewed 3s")
		a.stop()
		time.Sleep(100 * time.Millisecond)
		expect("a drains", a, "◐ draining Nobody is known to lead", "its term has ended, its work has not yet", "stopped after 900ms the program asked Run to end began 2000-01-01 00:00:00 UTC fence token 946684800000000", "!Overdue", "!Leads since")
		close(finish)
		await(t, testLease, "b leads", b.IsLeader)
		expect("b leads", b, "● leading b leads", "Fence token 946684800000001")
		b.join()
		expect("at last", b, "■ stopped", "stopped after 0s")
	})
}

func TestPageOfALeaderThatIsWedged(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		thaw := make(chan struct{})
		a := newReplica(t, server, "a", func(cfg *Config, r *replica) { cfg.Observer = &freezer{recorder{r: r}, nil, thaw} }).start(t)
		time.Sleep(a.timing.deadline + 3*time.Second)
		if got := readPage(t, StatusHandler(a.Elector)); !strings.Contains(got, "◐ draining Nobody is known to lead") ||
			!strings.Contains(got, "Overdue: &#34;test&#34;: the term of &#34;a&#34; ended 3s ago and was not stepped down from") {
			t.Error(got)
		}
		close(thaw)
		await(t, testLease, "a has stepped down", func() bool { return len(a.history.latest()) == 1 })
		if got := readPage(t, StatusHandler(a.Elector)); strings.Contains(got, "Overdue") || !strings.Contains(got, "expired after 4s not renewed by the deadline") {
			t.Error(got)
		}
	})
}

// Anybody who may write to Redis may choose an identity. Whatever it is, the markup
// around it stays the same.
func TestPageIsNotFooled(t *testing.T) {
	hostile := []string{
		`<script>alert(1)</script>`, `</title><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, `</main></script><svg onload=alert(1)>`,
		`{{.Nonce}}`, "javascript:alert(1)", `<!--`, `]]>`, `&lt;script&gt;`, "\u202egnp.exe", "a\x00b\r\n\tc\x7f", "\xff\xfe", strings.Repeat("x", 1<<16),
	}
	bubble(t, func(t *testing.T, server *memServer) {
		markup := func(text string) ([]string, string) {
			a := newReplica(t, server, text, func(cfg *Config, _ *replica) { cfg.Name = text })
			a.observed.Store(&observation{Leader{text, 7, nil}, a.now(), time.Minute})
			body := accept(StatusHandler(a.Elector), browserAccepts, "/").Body.String()
			tags := tag.FindAllString(body, -1)
			for i := range tags {
				tags[i] = regexp.MustCompile(`nonce="\w+"`).ReplaceAllString(tags[i], "nonce")
			}
			return tags, body
		}
		plain, body := markup("plain")
		if n := strings.Count(body, "<bdi>plain</bdi>"); n != 3 { // name, leader, candidate: none can turn the text around it
			t.Errorf("%d texts are isolated", n)
		}
		for _, text := range hostile {
			if got, body := markup(text); !slices.Equal(got, plain) || strings.Count(body, "nonce=") != 2 {
				t.Errorf("%.40q: the tags are %.3000q, want %.3000q", text, got, plain)
			}
		}
		if _, body := markup(hostile[0]); !strings.Contains(body, "<title>&lt;script&gt;alert(1)&lt;/script&gt; leads ") || !strings.Contains(body, "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;</bdi> leads") {
			t.Errorf("an identity is not shown as it is: %s", body)
		}
	})
}

func TestPageLetsNothingInFromElsewhere(t *testing.T) {
	var nonces []string
	for range 2 {
		reply := accept(StatusHandler(), browserAccepts, "/")
		body, policy := reply.Body.String(), reply.Header().Get("Content-Security-Policy")
		nonce := regexp.MustCompile(`script-src 'nonce-([A-Z2-7]+)'`).FindStringSubmatch(policy)
		if nonce == nil || !strings.HasPrefix(policy, "default-src 'none';") || !strings.Contains(body, `<script nonce="`+nonce[1]+`">`) || !strings.Contains(body, `<style nonce="`+nonce[1]+`">`) {
			t.Fatalf("policy %q", policy)
		}
		nonces = append(nonces, nonce[1])
		if found := regexp.MustCompile(`(?i)(https?:)?//[a-z]|\bsrc=|@import|url\(|\sstyle=|\son[a-z]+=`).FindAllString(body, -1); len(found) > 0 {
			t.Errorf("the page has %q", found)
		}
		for _, want := range []string{`<html lang="en">`, `<title>0 elections</title>`, `name="viewport" content="width=device-width, initial-scale=1"`, `<noscript><meta http-equiv="refresh" content="5"></noscript>`, `<h1>`} {
			if !strings.Contains(body, want) {
				t.Errorf("the page lacks %q", want)
			}
		}
	}
	if nonces[0] == nonces[1] {
		t.Error("a nonce was used twice")
	}
}

func TestHistoryKeepsTheLatestTerms(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", nil).start(t)
		for range maxHistory + 2 {
			await(t, time.Minute, "a leads", a.atWork)
			time.Sleep(time.Second)
			if err := a.Resign(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		terms := a.history.latest()
		if len(terms) != maxHistory {
			t.Fatalf("%d terms", len(terms))
		}
		for i, term := range terms {
			if term.Fence != int64(maxHistory+2-i) || term.Reason != EndedResigned || term.Lasted.Round(10*time.Millisecond) != time.Second || term.Began.IsZero() {
				t.Errorf("term %d: %+v", i, term)
			}
		}
	})
}

func TestTermThatNeverBeganIsNoHistory(t *testing.T) {
	bubble(t, func(t *testing.T, server *memServer) {
		a := newReplica(t, server, "a", func(cfg *Config, _ *replica) {
			cfg.FenceFloor = func(context.Context) (int64, error) { return 0, errors.New("away") }
		}).start(t)
		time.Sleep(time.Minute)
		if terms := a.history.latest(); len(terms) != 0 {
			t.Errorf("%+v", terms)
		}
	})
}

func TestWhenATokenWasMinted(t *testing.T) {
	for _, c := range []struct {
		fence int64
		known bool
	}{
		{noon.UnixMicro(), true},
		{noon.Add(-time.Hour).UnixMicro(), true},
		{noon.Add(time.Second).UnixMicro(), true}, // the server's clock is ahead
		{noon.Add(time.Hour).UnixMicro(), false},
		{1, false},
		{1 << 52, false},
	} {
		got := mintedAt(c.fence, noon)
		if got.IsZero() == c.known || c.known && got.UnixMicro() != c.fence {
			t.Errorf("%d: %v", c.fence, got)
		}
	}
	if gone := (panel{At: noon}).Gone(noon.Add(time.Second)); gone != 0 {
		t.Errorf("a term began %v ago", gone)
	}
}

func TestBrief(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": 0, "850ms": 850*time.Millisecond + 300*time.Microsecond, "6.4s": 6420 * time.Millisecond, "1m1s": 61200 * time.Millisecond, "3h0m0s": 3 * time.Hour,
	} {
		if got := brief(d); got != want {
			t.Errorf("brief(%v) = %q, want %q", d, got, want)
		}
	}
}

func TestEveryReasonIsExplained(t *testing.T) {
	for _, reason := range EndReasons() {
		if explanations[reason] == "" {
			t.Errorf("%s is not", reason)
		}
	}
	if got := (pastTerm{Reason: "new"}).Explanation(); got != "new" {
		t.Errorf("Explanation = %q", got)
	}
}
